import type { Hex } from '@tollgate/protocol';

import { useRedis } from '../../../test/harness/stack/borrow-redis.js';
import { ContractWallets } from './contract-wallets.js';
import { Strikes } from './simulate.js';

const [CHAIN, OTHER_CHAIN] = [84532, 8453];
const NAME: Hex = `0x${'c0'.repeat(32)}`;
const PAYER: Hex = `0x${'a1'.repeat(20)}`;
const CALL = { name: NAME, budget: 'calls' } as const;

/** Two chains of one seller have one Redis. Gas costs nothing on a test chain. */
describe('gas that is burnt on one chain', () => {
  const redis = useRedis();
  beforeEach(() => redis.flushall());

  const createWallets = (chainId: number, burnsPerCode: number) => {
    const budget = { gasPerHour: 1_000, gasCap: 100 };
    const settings = { areAccepted: true, burnsPerCode, budgets: { calls: budget, deployments: budget } };
    return new ContractWallets(redis, chainId, settings, () => undefined);
  };
  const burn = async (wallets: ContractWallets, jobId: string, gas: bigint) => {
    expect(await wallets.admit(jobId, { ...CALL, gas })).toBeNull();
    await wallets.conclude(jobId, { gasUsed: gas, isSettled: false });
  };

  it('uses up the budget of that chain alone', async () => {
    const [wallets, others] = [createWallets(CHAIN, 0), createWallets(OTHER_CHAIN, 0)];
    await burn(wallets, 'job', 950n);
    expect(await wallets.findRefusal(CALL)).toBe('contract_wallet_paused');
    expect(await others.findRefusal(CALL)).toBeNull();
    expect(await others.read('calls')).toEqual({ usedGas: 0, leftGas: 1_000 });
  });

  it('bars the code of a wallet on that chain alone', async () => {
    const [wallets, others] = [createWallets(CHAIN, 1), createWallets(OTHER_CHAIN, 1)];
    await burn(wallets, 'job', 10n);
    expect(await wallets.findRefusal(CALL)).toBe('contract_wallet_paused');
    expect(await others.findRefusal(CALL)).toBeNull();
  });

  it('is not outnumbered by payments with that code on another chain', async () => {
    const [wallets, others] = [createWallets(CHAIN, 1), createWallets(OTHER_CHAIN, 1)];
    for (const jobId of ['one', 'two']) {
      expect(await others.admit(jobId, { ...CALL, gas: 10n })).toBeNull();
      await others.conclude(jobId, { gasUsed: 10n, isSettled: true });
    }
    await burn(wallets, 'three', 10n);
    expect(await wallets.findRefusal(CALL)).toBe('contract_wallet_paused');
  });

  it('bars its payer on that chain alone', async () => {
    const [strikes, others] = [new Strikes(redis, CHAIN), new Strikes(redis, OTHER_CHAIN)];
    for (let turn = 0; turn < 5; turn++) await strikes.note(PAYER);
    expect(await strikes.findBarred([PAYER])).toEqual(new Set([PAYER]));
    expect(await others.findBarred([PAYER])).toEqual(new Set());
  });
});
