import fc from 'fast-check';

import { FAILURE, finishSample, mineSample, planSample, submitSample } from '../../test/sample-jobs.js';
import { openLane, useJournal, type OpenLane } from '../../test/start-journal.js';
import { laneKey } from '../jobs/keys.js';
import type { StepWrite } from '../jobs/transition.js';
import { copyLane } from './copy-lane.js';

const USDC = `0x${'aa'.repeat(20)}` as const;

describe('spending', () => {
  const { redis, journal } = useJournal();
  let { lane, token } = {} as OpenLane;

  beforeEach(async () => {
    ({ lane, token } = await openLane(journal));
  });

  const submit = () => submitSample(journal, lane, token);
  const count = (write: StepWrite, amount: bigint, limit: bigint | null = 100n, asset: string = USDC) =>
    journal.reserveSpending({ ...write, spendings: [{ asset, amount, limit }] });
  const total = async (asset: string = USDC) => {
    const [name] = await redis.keys(`tollgate:{${lane.chainId}:${lane.address}}:spent:*`);
    return name === undefined ? null : redis.hget(name, asset.toLowerCase());
  };

  it('is counted up to the daily limit and not a unit beyond, however many jobs compete', async () => {
    const writes = await Promise.all(Array.from({ length: 15 }, submit));
    const results = await Promise.all(writes.map((write) => count(write, 9n)));
    expect(results.filter(({ outcome }) => outcome === 'done')).toHaveLength(11);
    expect(results.filter((one) => 'asset' in one && one.left === 1n && one.asset === USDC)).toHaveLength(4);
    expect(await total()).toBe('99');
  });

  it('is counted once per job, with its latest plan', async () => {
    const write = await submit();
    await count(write, 90n);
    await count(write, 90n);
    expect(await total()).toBe('90');
    expect(await count(write, 101n)).toEqual({
      outcome: 'refused',
      reason: 'over_limit',
      state: 'PLANNED',
      asset: USDC,
      left: 100n,
    });
    expect(await total()).toBe('90');
    await count(write, 5n);
    expect(await total()).toBe('5');
    await journal.reserveSpending({ ...write, spendings: [{ asset: 'native', amount: 3n, limit: null }] });
    expect([await total(), await total('native')]).toEqual(['0', '3']);
  });

  it('is counted for all assets or none', async () => {
    const write = await submit();
    const spendings = [
      { asset: 'native', amount: 1n, limit: null },
      { asset: USDC, amount: 101n, limit: 100n },
    ];
    expect(await journal.reserveSpending({ ...write, spendings })).toMatchObject({ reason: 'over_limit', asset: USDC });
    expect(await total('native')).toBeNull();
  });

  it('is given back once', async () => {
    const [write, other] = [await submit(), await submit()];
    await count(write, 60n);
    await count(other, 30n);
    expect(await journal.cancel(write.jobId)).toMatchObject({ outcome: 'done' });
    expect(await journal.cancel(write.jobId)).toMatchObject({ outcome: 'unchanged' });
    expect(await total()).toBe('30');
  });

  it('is given back for the unspent part of an ended job only', async () => {
    const write = await submit();
    await count(write, 60n);
    await journal.cancel(write.jobId);
    expect(await total()).toBe('0');

    const failed = await submit();
    await count(failed, 50n);
    await journal.failPlan({ ...failed, failure: FAILURE, givesBackSpending: true });
    expect(await total()).toBe('0');

    const spent = await submit();
    await count(spent, 40n);
    await finishSample(journal, spent);
    expect(await total()).toBe('40');

    const reverted = await submit();
    await count(reverted, 30n);
    await planSample(journal, reverted);
    const blockHash = await mineSample(journal, reverted);
    await journal.failStep({ ...reverted, blockHash, failure: FAILURE, givesBackSpending: true });
    expect(await total()).toBe('40');

    const voided = await submit();
    await count(voided, 20n);
    await planSample(journal, voided);
    await journal.reserve({ ...voided, maxInFlight: 9 });
    await journal.cancel(voided.jobId);
    expect(await total()).toBe('60');
    await journal.finishStep({ ...voided, blockHash: await mineSample(journal, voided, 'cancel') });
    expect(await total()).toBe('40');
  });

  it('is not counted for an invalid amount', async () => {
    const write = await submit();
    await expect(count(write, -1n)).rejects.toThrow(TypeError);
    await expect(count(write, 1n, null, 'a b')).rejects.toThrow(TypeError);
    const twice = [USDC, USDC.toUpperCase().replace('0X', '0x')].map((asset) => ({ asset, amount: 1n, limit: null }));
    await expect(journal.reserveSpending({ ...write, spendings: twice })).rejects.toThrow(TypeError);
  });

  it('is added and subtracted exactly, at any size', async () => {
    const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
    await fc.assert(
      fc.asyncProperty(
        fc.array(amount, { minLength: 1, maxLength: 5 }),
        fc.string({ unit: fc.constantFrom('a', 'b', 'c') }),
        async (amounts, name) => {
          const asset = `asset${name.slice(0, 40)}`;
          const before = BigInt((await total(asset)) ?? '0');
          const writes = await Promise.all(amounts.map(submit));
          for (const [index, write] of writes.entries()) await count(write, amounts[index]!, null, asset);
          const sum = amounts.reduce((one, other) => one + other, before);
          expect(await total(asset)).toBe(sum.toString());
          expect(await count(await submit(), 1n, sum, asset)).toMatchObject({ reason: 'over_limit', left: 0n });
          await journal.cancel(writes[0]!.jobId);
          expect(await total(asset)).toBe((sum - amounts[0]!).toString());
          for (const { jobId } of writes) await journal.cancel(jobId);
          expect(await total(asset)).toBe(before.toString());
        },
      ),
      { numRuns: 60 },
    );
  });

  describe('a lock', () => {
    const lock = (write: StepWrite, locks: readonly string[] = ['router']) => journal.takeLocks({ ...write, locks });
    const OTHER = 'other';

    it('belongs to one job until that job has ended', async () => {
      const [one, other] = [await submit(), await submit()];
      const results = await Promise.all([lock(one), lock(other), lock(one)]);
      expect(results.map(({ outcome }) => outcome)).toEqual(['done', 'refused', 'unchanged']);
      expect(results[1]).toMatchObject({ reason: 'locked', holder: one.jobId });
      await finishSample(journal, one);
      expect(await lock(other)).toMatchObject({ outcome: 'done' });
      await journal.cancel(other.jobId);
      expect(await lock(await submit())).toMatchObject({ outcome: 'done' });
    });

    it('takes all or none, so that no two jobs wait for each other', async () => {
      const [one, other] = [await submit(), await submit()];
      await lock(one, [OTHER]);
      expect(await lock(other, ['router', OTHER])).toMatchObject({ reason: 'locked' });
      expect(await lock(one, ['router', OTHER])).toMatchObject({ outcome: 'done' });
      await journal.cancel(one.jobId);
      expect(await lock(other, ['router', OTHER])).toMatchObject({ outcome: 'done' });
    });

    it('stays with a job that waits for an operator', async () => {
      const [parked, other] = [await submit(), await submit()];
      await lock(parked);
      await journal.needOperator({ ...parked, failure: FAILURE });
      expect(await lock(other)).toMatchObject({ reason: 'locked', holder: parked.jobId });
      await journal.abandonJob({ jobId: parked.jobId, minedNonce: 0, failure: FAILURE });
      expect(await lock(other)).toMatchObject({ outcome: 'done' });
    });

    it('is in a backup, as all that is stored of a lane whose jobs have not ended', async () => {
      const write = await submit();
      await lock(write);
      await count(write, 1n);
      await planSample(journal, write);
      await journal.reserve({ ...write, maxInFlight: 9 });
      const stored = await redis.keys(laneKey(lane).replace(/lane$/, '*'));
      expect((await copyLane(redis, laneKey(lane))).keys.map(({ key }) => key).sort()).toEqual(stored.sort());
    });
  });
});
