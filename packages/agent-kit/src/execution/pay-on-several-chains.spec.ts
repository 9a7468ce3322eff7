import { MemoryPaymentStore } from '@tollgate/client';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';

import type { Devnet } from '../../../../tools/devnet/chain/chain.js';
import { readBalance } from '../../../../tools/devnet/chain/read-balance.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { startTwoChains, type TwoChains } from '../../../../tools/devnet/chain/two-chains.js';
import { expectFailure, useOpened } from '../../../client/test/set-up.js';
import { startSigningShop, type SigningShop } from '../../../client/test/signing-shop.js';
import { AgentKit } from '../agent-kit.js';
import type { SpendingPolicy } from '../policy/policy.js';
import type { FurtherChain } from '../settings/agent-kit-options.js';

describe('a kit that pays on two chains', () => {
  const chains = {} as TwoChains;
  const open = useOpened();
  let key: `0x${string}`;
  let second: FurtherChain;

  beforeAll(async () => {
    Object.assign(chains, await startTwoChains());
  });
  afterAll(() => chains.stop?.());
  beforeEach(() => {
    key = generatePrivateKey();
    const { rpcUrl, chainId, asset } = chains.second;
    const registry = {
      ...{ chainId, name: 'Second', native: { symbol: 'ETH', decimals: 18 as const }, explorerUrl: null },
      tokens: [{ address: asset, symbol: 'USDC', decimals: 6 }],
      payments: { network: 'chain-testnet-2', tokens: [asset] },
      protocols: [],
    };
    second = { rpcUrl, registry };
  });

  const createKit = (policy: SpendingPolicy = {}, further: readonly FurtherChain[] = [second]) =>
    new AgentKit(key, 'offline', {
      rpcUrl: chains.first.rpcUrl,
      networkRetryDelayMs: 0,
      policy,
      payments: { store: new MemoryPaymentStore(), chains: further },
    });
  const fund = (...on: Devnet[]) =>
    Promise.all(on.map((chain) => transferTokens(chain, { to: privateKeyToAddress(key), amountBaseUnits: 10_000n })));
  const spent = async (chain: Devnet) => 10_000n - (await readBalance(chain, privateKeyToAddress(key)));
  /** Offers both chains, the second one last, and settles on the one given. */
  const startShop = async (settlesOn: Devnet): Promise<SigningShop> => {
    const shop = await open(startSigningShop(settlesOn, 2));
    shop.others = [{ network: 'eip155:84532' }];
    return shop;
  };
  const LATER = /^The offer of 0x\w{40} on chain 84532 comes after the one that is paid\.$/;

  it('pays on its own chain, and names it and the offer that comes after', async () => {
    await fund(chains.first, chains.second);
    const shop = await startShop(chains.first);
    const kit = createKit();
    const plan = await kit.plan('payForResource', { url: shop.url });
    expect(plan.summary).toMatch(/^Pay 0\.001 USDC on chain 1328 by a signature \(EIP-3009\) to /);
    expect(plan.preview).toMatch(/not paid {2}The offer of 0x\w{40} on chain 84532 comes after/);
    expect([plan.chainId, plan.warnings]).toEqual([1328, undefined]);
    expect(await kit.execute(plan)).toMatchObject({
      status: 'success',
      ...{ token: 'USDC', amount: '0.001', chainId: '1328' },
      skipped: [expect.stringMatching(LATER)],
    });
    expect([await spent(chains.first), await spent(chains.second)]).toEqual([1_000n, 0n]);
  });

  it('pays on the other chain where its own has no money, and says so', async () => {
    await fund(chains.second);
    const shop = await startShop(chains.second);
    const kit = createKit();
    const plan = await kit.plan('payForResource', { url: shop.url });
    const reason = 'On chain 1328: Insufficient balance: 0.001 USDC needed, 0 USDC available.';
    expect(plan).toMatchObject({
      chainId: 84532,
      summary: expect.stringContaining('Pay 0.001 USDC on chain 84532 by a signature'),
      summaryLine: expect.stringMatching(
        / on chain 84532 \| warning: a better offer is not paid: On chain 1328: Insufficient/,
      ),
      warnings: [`a better offer is not paid: ${reason}`],
    });
    expect(await kit.execute(plan)).toMatchObject({ status: 'success', chainId: '84532', skipped: [reason] });
    expect(await spent(chains.second)).toBe(1_000n);
  });

  it('says of each offer why it is not paid where none is', async () => {
    const shop = await startShop(chains.second);
    const lack = ': Insufficient balance: 0.001 USDC needed, 0 USDC available.';
    await expectFailure(
      createKit().payForResource(shop.url),
      'INSUFFICIENT_BALANCE',
      `No offer can be paid. On chain 1328${lack} On chain 84532${lack}`,
    );
  });

  // Prevents: the token of another chain, which has the same address, is paid from this one's limit, or without any.
  it('keeps the limits of each chain’s token apart', async () => {
    await fund(chains.first, chains.second);
    const onFirst = await startShop(chains.first);
    const onSecond = await open(startSigningShop(chains.second, 2));
    onSecond.offer = { network: 'eip155:84532' };
    await expectFailure(
      createKit({ maxPerDay: { USDC: '1' } }).payForResource(onSecond.url),
      'POLICY_VIOLATION',
      expect.stringContaining('no limit is set for 0.001 USDC'),
    );
    const kit = createKit({ maxPerDay: { USDC: '0.002', '84532:USDC': '0.001' } });
    const buy = async (shop: SigningShop) => (await kit.payForResource(shop.url)).chainId;
    expect([await buy(onSecond), await buy(onFirst), await buy(onFirst)]).toEqual(['84532', '1328', '1328']);
    await expectFailure(buy(onSecond), 'POLICY_VIOLATION', expect.stringContaining('0 USDC is left of today'));
    await expectFailure(buy(onFirst), 'POLICY_VIOLATION', expect.stringContaining('0 USDC is left of today'));
    expect([await spent(chains.first), await spent(chains.second)]).toEqual([2_000n, 1_000n]);
  });

  it('pays an offer that the policy allows in place of one that it forbids', async () => {
    await fund(chains.first, chains.second);
    const shop = await startShop(chains.second);
    const kit = createKit({ maxPerOperation: { USDC: '0.0009', '84532:USDC': '0.001' } });
    expect(await kit.payForResource(shop.url)).toMatchObject({
      status: 'success',
      chainId: '84532',
      skipped: [expect.stringContaining('0.001 USDC is more than the 0.0009 USDC of one operation')],
    });
  });

  it('pays on its own chain while another one does not answer, and says so', async () => {
    await fund(chains.first);
    const shop = await startShop(chains.first);
    const kit = createKit({}, [{ ...second, rpcUrl: 'http://127.0.0.1:1' }]);
    expect(await kit.payForResource(shop.url)).toMatchObject({
      chainId: '1328',
      skipped: [
        expect.stringMatching(/^This client may not pay with 0x\w{40} on eip155:84532 to /),
        expect.stringMatching(/^A chain to pay on is left out: The network did not answer.*127\.0\.0\.1:1/),
      ],
    });
  });

  it.each<[string, () => FurtherChain, RegExp]>([
    ['of one id', () => ({ rpcUrl: chains.first.rpcUrl }), /^Two of the chains to pay on are chain 1328\.$/],
    [
      'of one name',
      () => ({
        ...second,
        registry: { ...second.registry!, payments: { ...second.registry!.payments!, network: 'chain-testnet' } },
      }),
      /^The chains 1328 and 84532 have the same name in offers, chain-testnet\.$/,
    ],
  ])('refuses two chains %s, of which the wrong one could be paid', async (_, further, message) => {
    const shop = await startShop(chains.first);
    await expectFailure(
      createKit({}, [further()]).payForResource(shop.url),
      'INVALID_CONFIGURATION',
      expect.stringMatching(message),
    );
  });

  it('refuses an address of a chain that is no URL', () => {
    expect(() => createKit({}, [{ rpcUrl: 'second' }])).toThrow(/payments\.chains is not an http or https URL/);
  });
});
