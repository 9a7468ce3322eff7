import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { encodeJsonHeader, type Hex, type PaymentRequiredV2, type RequirementV2 } from '@tollgate/protocol';

import { readHeader } from '../../apps/gateway/test/present-payments.js';
import {
  createWallet,
  fetchWithPayment,
  MemoryPaymentStore,
  type PaymentOptions,
  type TrustedAsset,
} from '../../packages/client/src/index.js';
import { OperatorApi } from '../../tools/cli/book/operator-api.js';
import type { Devnet } from '../../tools/devnet/chain/chain.js';
import { readBalance } from '../../tools/devnet/chain/read-balance.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { createOperatorKey } from '../../tools/devnet/stack/create-operator-key.js';
import { waitFor } from '../harness/retry.js';
import { useTwoChains } from '../harness/stack/use-two-chains.js';

jest.setTimeout(240_000);

/** WEATHER_PRICE in each option: `writePaymentsFile` says at which rate. */
const [USDC_PRICE, WDEV_PRICE] = [1_000n, 400_000_000_000n];

describe('a stack that sells on two chains in three tokens', () => {
  const folder = mkdtempSync(join(tmpdir(), 'two-chains-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const running = useTwoChains({
    relayers: 1,
    agentWorkers: 1,
    agentWallets: { refunds: {} },
    book: { folder, signingKey: randomBytes(32).toString('hex') },
    env: { SIGNED_PAYMENTS: 'true', FACILITATOR: 'true', RECONCILE_GRACE_SECONDS: '2' },
  });
  let operator: OperatorApi;
  beforeAll(async () => {
    const { redis, bookkeeper } = running().stack;
    const apiKey = await createOperatorKey(redis.url);
    operator = new OperatorApi({ operator: bookkeeper?.url ?? '' }, { OPERATOR_API_KEY: apiKey });
  });

  const first = (): Devnet => running().chains.first;
  const second = (): Devnet => running().chains.second;
  const url = (): string => `${running().stack.baseUrl}/api/weather`;

  const assetOf = ({ chainId, asset: address }: Devnet): TrustedAsset => ({
    network: `eip155:${chainId}`,
    chainId,
    address,
    decimals: 6,
  });
  const wdevOf = (chain: Devnet): TrustedAsset => ({ ...assetOf(chain), address: chain.plainToken, decimals: 18 });
  const buy = (assets: readonly TrustedAsset[], options: Partial<PaymentOptions> = {}): Promise<Response> => {
    const wallets = [first(), second()].map(({ rpcUrl, chainId, accounts }) =>
      createWallet({ account: accounts[1]!.privateKey, rpcUrl, chainId }),
    );
    const limits = { assets, maxAmount: '1', store: new MemoryPaymentStore() };
    return fetchWithPayment(fetch, wallets, { ...limits, ...options })(url());
  };

  async function readOffers(): Promise<readonly RequirementV2[]> {
    const response = await fetch(url());
    await response.arrayBuffer();
    if (response.status !== 402) return [];
    return (readHeader(response, 'payment-required') as unknown as PaymentRequiredV2).accepts;
  }
  const offerIn = async ({ chainId }: Devnet, asset: Hex): Promise<RequirementV2> => {
    const offers = await readOffers();
    return offers.find((one) => one.network === `eip155:${chainId}` && one.asset === asset.toLowerCase())!;
  };

  interface Paid {
    readonly accepted: RequirementV2;
    readonly txHash: Hex;
  }
  async function payByHash(chain: Devnet, token = chain.asset): Promise<Paid> {
    const accepted = await offerIn(chain, token);
    const lockReference = String(accepted.extra['reference']);
    return {
      accepted,
      txHash: await transferTokens(chain, { amountBaseUnits: BigInt(accepted.amount), token, lockReference }),
    };
  }
  const show = async ({ accepted, txHash }: Paid): Promise<number> => {
    const payload = { txHash, reference: accepted.extra['reference'] };
    const header = encodeJsonHeader({ x402Version: 2, accepted, payload });
    const response = await fetch(url(), { headers: { 'PAYMENT-SIGNATURE': header } });
    await response.arrayBuffer();
    return response.status;
  };

  it('offers each token at its price, and no EIP-3009 for the one that lacks it', async () => {
    expect(await readOffers()).toMatchObject([
      { network: `eip155:${first().chainId}`, asset: first().asset.toLowerCase(), amount: String(USDC_PRICE) },
      { network: `eip155:${second().chainId}`, asset: second().asset.toLowerCase(), amount: String(USDC_PRICE) },
      {
        network: `eip155:${second().chainId}`,
        asset: second().plainToken.toLowerCase(),
        amount: String(WDEV_PRICE),
        extra: { assetTransferMethod: 'permit2' },
      },
    ]);
  });

  it('is paid in each by a transaction, and once', async () => {
    const paid = [await payByHash(first()), await payByHash(second()), await payByHash(second(), second().plainToken)];
    for (const one of paid) expect(await show(one)).toBe(200);
    for (const { accepted, txHash } of paid) {
      const again = (await readOffers()).find(({ network, asset }) => {
        return network === accepted.network && asset === accepted.asset;
      })!;
      expect(await show({ accepted: again, txHash })).toBe(402);
    }
  });

  it.each([
    ['USDC on the first chain', () => [assetOf(first()), assetOf(second())], {}, 1328],
    ['USDC on the second chain', () => [assetOf(second()), assetOf(first())], {}, 84_532],
    ['WDEV by Permit2', () => [wdevOf(second())], { permit2Allowance: '1' }, 84_532],
  ])('is paid by a client that prefers %s', async (_what, assets, options, chainId) => {
    const response = await buy(assets(), options);
    expect([response.status, readHeader(response, 'payment-response')['network']]).toEqual([200, `eip155:${chainId}`]);
  });

  // Prevents: payers of one chain wait, or are refused, because another chain's RPC server does not answer.
  it('serves every payment of one chain while the other does not answer, and those of the other when it is back', async () => {
    const late = [];
    for (let at = 0; at < 20; at += 1) late.push(await payByHash(second()));
    const onFirst = [];
    for (let at = 0; at < 10; at += 1) onFirst.push(await payByHash(first()));
    process.kill(second().pid, 'SIGSTOP');
    try {
      const waiting = late.map(show);
      expect(await Promise.all(onFirst.map(show))).toEqual(onFirst.map(() => 200));
      expect((await buy([assetOf(first())])).status).toBe(200);
      expect(new Set(await Promise.all(waiting))).toEqual(new Set([503]));
    } finally {
      process.kill(second().pid, 'SIGCONT');
    }
    const pending = new Set(late);
    await waitFor('each is served', async () => {
      for (const one of pending) if ((await show(one)) === 200) pending.delete(one);
      return pending.size === 0;
    });
  });

  it('has each chain in the lists of its facilitator', async () => {
    const { baseUrl } = running().stack;
    const answer = await fetch(`${baseUrl}/facilitator/supported`);
    const { kinds } = (await answer.json()) as { kinds: { scheme: string; network: string }[] };
    const exact = kinds.filter(({ scheme }) => scheme === 'exact').map(({ network }) => network);
    expect(new Set(exact)).toEqual(new Set(['eip155:1328', 'eip155:84532', 'base-sepolia', 'sei-testnet']));
  });

  describe('in its book', () => {
    const idOf = async (transaction: Hex, chain: Devnet): Promise<string> => {
      let id: string | undefined;
      await waitFor('it is booked', async () => {
        const { payments } = await operator.ask('GET /operator/payments', { query: { transaction } });
        id = payments.find(({ network }) => network === `eip155:${chain.chainId}`)?.id;
        return id !== undefined;
      });
      return id!;
    };

    it('lists what the seller is paid in', async () => {
      const { options } = await operator.ask('GET /operator/seller', {});
      expect(options.map(({ name, chainId, asset }) => [name, chainId, asset.symbol, asset.decimals])).toEqual([
        ['usdc-devnet', 1328, 'USDC', 6],
        ['usdc-devnet-2', 84_532, 'USDC', 6],
        ['wdev-devnet-2', 84_532, 'WDEV', 18],
      ]);
    });

    it.each([
      ['USDC of the first chain', first, 'asset'],
      ['WDEV of the second', second, 'plainToken'],
    ] as const)('refunds %s on its chain, in its token', async (_what, chain, token) => {
      const payer = chain().accounts[0]!.address;
      const paid = await payByHash(chain(), chain()[token]);
      expect(await show(paid)).toBe(200);
      const payment = await idOf(paid.txHash, chain());
      const before = await readBalance({ ...chain(), asset: chain()[token] }, payer);
      const asked = await operator.ask('POST /operator/refunds', {
        body: { payment, reason: 'the customer asked', answered: true },
      });
      await waitFor('it is refunded', async () => {
        const { state, detail } = await operator.ask('GET /operator/refunds/:id', { id: asked.id });
        if (state === 'failed') throw new Error(`the refund failed: ${detail}`);
        return state === 'refunded';
      });
      const after = await readBalance({ ...chain(), asset: chain()[token] }, payer);
      expect(after - before).toBe(BigInt(paid.accepted.amount));
    });

    it('agrees with both chains, in every token', async () => {
      await waitFor('everything is compared, and nothing differs', async () => {
        const { scopes, chainOnly, bookOnly, different } = await operator.ask('GET /operator/reconcile', {});
        const open = scopes.reduce((sum, { waiting }) => sum + waiting.transfers + waiting.payments, 0);
        const isCompared =
          scopes.length === 3 && scopes.every(({ block, trouble }) => block !== null && trouble === null);
        return isCompared && open + chainOnly.length + bookOnly.length + different.length === 0;
      });
      const { balances } = await operator.ask('GET /operator/balances', {});
      const sums = new Map<string, bigint>();
      for (const { asset, amount } of balances) sums.set(asset, (sums.get(asset) ?? 0n) + BigInt(amount));
      expect(new Set(sums.values())).toEqual(new Set([0n]));
      expect([...sums.keys()].sort()).toEqual(
        expect.arrayContaining([
          `1328:${first().asset.toLowerCase()}`,
          `84532:${second().asset.toLowerCase()}`,
          `84532:${second().plainToken.toLowerCase()}`,
        ]),
      );
    });
  });
});
