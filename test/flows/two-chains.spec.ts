import { encodeJsonHeader, type Hex, type PaymentRequiredV2, type RequirementV2 } from '@tollgate/protocol';

import { readHeader } from '../../apps/gateway/test/present-payments.js';
import {
  createWallet,
  fetchWithPayment,
  MemoryPaymentStore,
  type PaymentOptions,
  type TrustedAsset,
} from '../../packages/client/src/index.js';
import type { Devnet } from '../../tools/devnet/chain/chain.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { waitFor } from '../harness/retry.js';
import { useTwoChains } from '../harness/stack/use-two-chains.js';

jest.setTimeout(240_000);

/** WEATHER_PRICE in each option: `writePaymentsFile` says at which rate. */
const [USDC_PRICE, WDEV_PRICE] = [1_000n, 400_000_000_000n];

describe('a stack that sells on two chains in three tokens', () => {
  const running = useTwoChains({ relayers: 1, env: { SIGNED_PAYMENTS: 'true' } });
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
});
