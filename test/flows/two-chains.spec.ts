import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { encodeJsonHeader, type Hex, type PaymentRequiredV2, type RequirementV2 } from '@tollgate/protocol';
import { createRedis } from '@tollgate/redis';

import { readHeader } from '../../apps/gateway/test/present-payments.js';
import { Ledger } from '../../libs/ledger/src/index.js';
import { sampleClaim, sampleHash, sampleTransfer } from '../../libs/ledger/test/sample-payments.js';
import {
  createWallet,
  fetchWithPayment,
  MemoryPaymentStore,
  type PaymentOptions,
  type TrustedAsset,
} from '../../packages/client/src/index.js';
import { OperatorApi } from '../../tools/cli/book/operator-api.js';
import { NOT_DONE, tollgate } from '../../tools/cli/test/run-tollgate.js';
import type { Devnet } from '../../tools/devnet/chain/chain.js';
import { readBalance } from '../../tools/devnet/chain/read-balance.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { startRedis } from '../../tools/devnet/processes/redis.js';
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
  let operatorPlace: { url: string; apiKey: string };
  beforeAll(async () => {
    const { redis, bookkeeper } = running().stack;
    const apiKey = await createOperatorKey(redis.url);
    operatorPlace = { url: bookkeeper?.url ?? '', apiKey };
    operator = new OperatorApi({ operator: operatorPlace.url }, { OPERATOR_API_KEY: apiKey });
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
  const present = (accepted: RequirementV2, payload: object): Promise<Response> => {
    const header = encodeJsonHeader({ x402Version: 2, accepted, payload });
    return fetch(url(), { headers: { 'PAYMENT-SIGNATURE': header } });
  };
  const statusOf = async (presented: Promise<Response>): Promise<number> => {
    const response = await presented;
    await response.arrayBuffer();
    return response.status;
  };
  const show = ({ accepted, txHash }: Paid): Promise<number> =>
    statusOf(present(accepted, { txHash, reference: accepted.extra['reference'] }));

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

  // Prevents: an answer is had for a payment of another option, or a signature is settled for a token it does not name.
  it.each([
    ['USDC on the second chain', 'USDC on the first', second, first],
    ['USDC on the first chain', 'USDC on the second', first, second],
    ['WDEV on the second chain', 'USDC on the same', () => ({ ...second(), asset: second().plainToken }), second],
  ])('refuses a signature for %s as a payment in %s, and moves nothing', async (_for, _as, signed, named) => {
    const payer = first().accounts[2]!;
    const readBalances = (): Promise<bigint[]> => {
      const tokens = [first(), second(), { ...second(), asset: second().plainToken }];
      return Promise.all(tokens.map((token) => readBalance(token, payer.address)));
    };
    const before = await readBalances();
    const accepted = await offerIn(named(), named().asset);
    const { authorization, signature } = await signAuthorization(signed(), payer, { value: accepted.amount });
    expect(await statusOf(present(accepted, { authorization, signature }))).toBe(402);
    expect(await readBalances()).toEqual(before);
    const mended = await signAuthorization(named(), payer, authorization);
    expect(await statusOf(present(accepted, { authorization, signature: mended.signature }))).toBe(200);
  });

  // The named chain has no receipt of the transaction, which is what a pending one looks like.
  it.each([
    ['first', 'second', first, second],
    ['second', 'first', second, first],
  ] as const)('refuses a transfer on the %s chain by a reference of the %s', async (_paid, _named, paidOn, named) => {
    const paid = await payByHash(paidOn());
    const other = await offerIn(named(), named().asset);
    const payload = { txHash: paid.txHash, reference: other.extra['reference'] };
    const unknown = await present(other, payload);
    expect([unknown.status, await unknown.json()]).toMatchObject([503, { code: 'transaction_pending' }]);
    expect(await statusOf(present(paid.accepted, payload))).toBe(402);
    expect(await show(paid)).toBe(200);
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

    it.each([
      ['in USDC on the first chain', first, 'asset'],
      ['in WDEV on the second', second, 'plainToken'],
    ] as const)('proves a payment %s by a file that names its chain', async (_what, chain, token) => {
      const paid = await payByHash(chain(), chain()[token]);
      expect(await show(paid)).toBe(200);
      const payment = await idOf(paid.txHash, chain());
      const place = { OPERATOR_URL: operatorPlace.url, OPERATOR_API_KEY: operatorPlace.apiKey };
      const [closed] = JSON.parse(await tollgate(['book', 'close', '--json'], place)) as [{ signer: string }];
      const file = join(folder, `${chain().chainId}.json`);
      await tollgate(['prove', payment, '--out', file], place);
      const proved = await tollgate(['verify-proof', file, '--key', closed.signer]);
      expect(proved).toContain(`tx:${chain().chainId}:${paid.txHash}`);
      expect(proved).toContain(`${paid.accepted.amount} base units, transaction ${paid.txHash}`);
      const changed = file.replace('.json', '-changed.json');
      writeFileSync(changed, readFileSync(file, 'utf8').replaceAll(`tx:${chain().chainId}:`, 'tx:137:'));
      await expect(tollgate(['verify-proof', changed, '--key', closed.signer])).rejects.toMatchObject(NOT_DONE);
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

  it('is backed up with the payments of both chains: restored, they are spent, and earlier ones are refused', async () => {
    const spent = [await payByHash(first()), await payByHash(second())];
    for (const one of spent) expect(await show(one)).toBe(200);
    const file = join(folder, 'backup');
    const target = await startRedis({ plain: true });
    const redis = createRedis(target.url, {});
    try {
      await tollgate(['backup', file, '--redis', running().stack.redis.url]);
      await tollgate(['restore', file, '--redis', target.url]);
      const chainIds = [first().chainId, second().chainId];
      const ledger = new Ledger({ redis, chainIds, timeoutMs: 30_000 });
      for (const [at, chainId] of chainIds.entries()) {
        const blockNumber = 1_000_000;
        await ledger.open({ chainId, blockNumber });
        const claim = (txHash: Hex, logIndex: number) =>
          ledger.claim(
            sampleClaim(ledger, {
              candidates: [
                sampleTransfer(ledger, { id: { kind: 'transfer', chainId, txHash, logIndex }, blockNumber }),
              ],
              headBlockNumber: blockNumber,
            }),
          );
        expect((await claim(spent[at]!.txHash, 0)).outcome).toBe('used');
        expect(await claim(sampleHash(), 0)).toMatchObject({ outcome: 'refused', failure: 'older_than_ledger' });
      }
    } finally {
      redis.disconnect();
      await target.stop();
    }
  });
});
