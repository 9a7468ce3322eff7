import type { Hex, SignedAuthorization } from '@tollgate/protocol';
import type { SettlementResult } from '@tollgate/transport';
import { Redis } from 'ioredis';

import {
  COINBASE_FACTORY,
  deployCoinbaseFactory,
  fundCoinbaseWallet,
  signForCoinbaseWallet,
} from '../../../../test/harness/chain/coinbase-wallet.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { sendTransaction } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { MULTICALL3 } from '../../../../tools/devnet/protocols/place-contracts.js';
import { burnsAfter, useBurningWallets } from '../../test/use-burning-wallets.js';

const PAUSED = { outcome: 'failed', failure: 'contract_wallet_paused', txHash: null };
const CAP = 500_000;
const BUDGET = { DEPLOY_GAS_CAP: String(CAP), DEPLOY_GAS_PER_HOUR: String(CAP) };

describe('a wallet that is deployed with its first payment', () => {
  const { fixture, readHead, createWallet, deployHonest, readSent } = useBurningWallets();
  beforeAll(() => deployCoinbaseFactory(fixture().chain));
  let redis: Redis;
  beforeAll(() => (redis = new Redis(fixture().redis.url)));
  beforeEach(() => redis.del(`tollgate:{contract-wallets}:${fixture().chain.chainId}:gas`));
  afterAll(() => redis.disconnect());
  afterEach(() => fixture().closeVerifiers());

  let salt = 0n;
  const createPayment = async (to?: Hex, owner = fixture().payer(1)) => {
    const { chain } = fixture();
    const wallet = await fundCoinbaseWallet(chain, { owner, salt: salt++, amountBaseUnits: 10_000n });
    const { authorization } = await fixture().sign({ from: wallet.address, ...(to && { to }) });
    return { wallet, payment: await signForCoinbaseWallet(chain, wallet, authorization) };
  };
  const termsFor = (payment: SignedAuthorization) => {
    const { terms } = fixture().createRequest(payment);
    return { ...terms, payTo: payment.authorization.to };
  };
  const verify = (payment: SignedAuthorization) => fixture().verify(payment, termsFor(payment));
  const settle = (payment: SignedAuthorization) => fixture().settle(payment, { terms: termsFor(payment) });
  const readTransaction = async (result: SettlementResult) => {
    expect(result).toMatchObject({ outcome: 'settled' });
    const { txHash } = result as { txHash: Hex };
    const [sent, receipt] = await Promise.all([
      fixture().rpc('eth_getTransactionByHash', [txHash]),
      fixture().rpc('eth_getTransactionReceipt', [txHash]),
    ]);
    return { to: (sent as { to: Hex }).to, gasUsed: Number((receipt as { gasUsed: Hex }).gasUsed) };
  };
  const readMetrics = async (verifier: Awaited<ReturnType<ReturnType<typeof fixture>['startVerifier']>>) => {
    const text = await (await fetch(`${await verifier.app.getUrl()}/metrics`)).text();
    const read = (name: string) => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'm').exec(text)?.[1]);
    return {
      used: read('tollgate_deployment_gas_used'),
      left: read('tollgate_deployment_gas_left'),
      burnt: read('tollgate_contract_wallet_gas_burnt'),
    };
  };

  // Prevents: a payer that signs for ever new wallets has them all deployed, since no deployment fails.
  it('pays without any setting, and uses up the budget for deployments, of which the rest is refused', async () => {
    const verifier = await fixture().startVerifier(BUDGET);
    const [first, second] = [await createPayment(), await createPayment()];
    expect(await verify(first.payment)).toMatchObject({ outcome: 'valid', payer: first.wallet.address });
    const { to, gasUsed } = await readTransaction(await settle(first.payment));
    expect(to).toBe(MULTICALL3.toLowerCase());
    expect(gasUsed).toBeLessThan(CAP);
    expect(await readMetrics(verifier)).toEqual({ used: gasUsed, left: 0, burnt: 0 });

    const before = await readSent();
    expect(await verify(second.payment)).toMatchObject({ outcome: 'refused', failure: 'contract_wallet_paused' });
    expect(await settle(second.payment)).toEqual(PAUSED);
    expect(await readSent()).toBe(before);
    // Wallets that exist, and accounts, have other budgets or none.
    expect(await settle(await fixture().sign({ from: await deployHonest() }))).toMatchObject({ outcome: 'settled' });
    expect(await settle(await fixture().sign())).toMatchObject({ outcome: 'settled' });
    await sendTransaction(fixture().chain, { to: COINBASE_FACTORY, data: second.wallet.deploy });
    expect(await settle(second.payment)).toMatchObject({ outcome: 'settled' });
  });

  // Prevents: payments that are settled at the same time deploy more wallets than the budget has gas for.
  it('holds the gas of deployments in flight', async () => {
    await fixture().startVerifier({ ...BUDGET, SETTLE_WAIT_MS: '60000' });
    const payments = [await createPayment(), await createPayment(), await createPayment()];
    await fixture().rpc('evm_setAutomine', [false]);
    const before = await readSent();
    const outcomes: string[] = [];
    const ended = payments.map(async ({ payment }) => outcomes.push((await settle(payment)).outcome));
    await waitFor('two are not begun', () => outcomes.length === 2);
    await fixture().rpc('evm_setAutomine', [true]);
    await fixture().rpc('evm_mine');
    await Promise.all(ended);
    expect(outcomes).toEqual(['unavailable', 'unavailable', 'settled']);
    expect(await readSent()).toBe(before + 1);
  });

  it('is settled by the plain call where it was deployed since it was verified', async () => {
    const verifier = await fixture().startVerifier();
    const { wallet, payment } = await createPayment();
    expect(await verify(payment)).toMatchObject({ outcome: 'valid' });
    await sendTransaction(fixture().chain, { to: COINBASE_FACTORY, data: wallet.deploy });
    const { to } = await readTransaction(await settle(payment));
    expect(to).toBe(fixture().chain.asset.toLowerCase());
    expect((await readMetrics(verifier)).used).toBe(0);
  });

  it('is not deployed by what has taken the place of its factory since it was verified', async () => {
    await fixture().startVerifier();
    const { payment } = await createPayment();
    expect(await verify(payment)).toMatchObject({ outcome: 'valid' });
    const code = (await fixture().rpc('eth_getCode', [COINBASE_FACTORY, 'latest'])) as Hex;
    const before = await readSent();
    await fixture().rpc('anvil_setCode', [COINBASE_FACTORY, `${code}00`]);
    expect(await settle(payment)).toMatchObject({ outcome: 'failed', failure: 'simulation_failed' });
    await fixture().rpc('anvil_setCode', [COINBASE_FACTORY, code]);
    expect(await readSent()).toBe(before);
  });

  // Prevents: a facilitator's relayer pays for wallets with which only another seller is paid.
  it("is not deployed for another seller's sale", async () => {
    await fixture().startVerifier();
    const { payment } = await createPayment('0x00000000000000000000000000000000000000ee');
    const before = await readSent();
    expect(await verify(payment)).toMatchObject({ outcome: 'refused', failure: 'factory_not_allowed' });
    expect(await settle(payment)).toMatchObject({ outcome: 'failed' });
    expect(await readSent()).toBe(before);
  });

  it('is not deployed where its gas costs too much for the price, or no wallet is to be', async () => {
    const { payment } = await createPayment();
    for (const [env, failure] of [
      [{ COIN_PRICE: '1000000' }, 'deployment_too_costly'],
      [{ DEPLOY_GAS_CAP: '0' }, 'factory_not_allowed'],
    ] as const) {
      await fixture().startVerifier(env);
      expect(await verify(payment)).toMatchObject({ outcome: 'refused', failure });
      await fixture().closeVerifiers();
    }
  });

  // Prevents: gas that a wallet burns while it is deployed is counted as that of wallets that exist, or not at all.
  it('uses up the budget for deployments also where its transaction fails', async () => {
    const verifier = await fixture().startVerifier();
    const owner = await createWallet('0x');
    const { payment } = await createPayment(undefined, { ...fixture().payer(1), address: owner });
    await fixture().rpc('anvil_setCode', [owner, burnsAfter(await readHead())]);
    expect(await settle(payment)).toMatchObject({ outcome: 'failed' });
    const { used, burnt } = await readMetrics(verifier);
    expect(used).toBeGreaterThan(100_000);
    expect(burnt).toBe(0);
  });
});
