import { useRedis } from '../../../test/harness/stack/borrow-redis.js';
import type { UnmadeSettlement } from './attempt.js';
import { SettlementRecords } from './batch.js';

const FAILED: UnmadeSettlement = { outcome: 'failed', failure: 'balance_too_low', txHash: null };
const OTHER: UnmadeSettlement = { outcome: 'failed', failure: 'settlement_failed', txHash: null };

/** Two verifiers that each handle a copy, in either order of their steps. */
describe('the record of a payment whose question is answered with a failure', () => {
  const redis = useRedis();
  const records = new SettlementRecords(redis);
  let count = 0;

  const KEPT_MS = 600_000;
  const createAsked = () => ({ name: `payment-${String(++count)}`, questionId: 'one', keptMs: KEPT_MS });

  it('accepts no other job for that question, whether its job has ended or was released', async () => {
    for (const isReleased of [false, true]) {
      const asked = createAsked();
      await records.claim([asked], 'first');
      if (isReleased) await records.release(asked, 'first');
      expect(await records.keepAnswer(asked, 'first', FAILED)).toBeNull();
      expect(await records.replace(asked, 'first', 'second')).toBe(false);
      expect(await records.claim([asked], 'second')).toEqual([{ answer: FAILED }]);
      expect(await records.find(asked.name)).toBe(isReleased ? null : 'first');
    }
  });

  it('accepts another job for another question, and repeats the answer to the first', async () => {
    const asked = createAsked();
    const anew = { ...asked, questionId: 'other' };
    await records.claim([asked], 'first');
    await records.keepAnswer(asked, 'first', FAILED);
    expect(await records.claim([anew], 'second')).toEqual([{ jobId: 'first' }]);
    expect(await records.replace(anew, 'first', 'second')).toBe(true);
    expect(await records.claim([asked, anew], 'third')).toEqual([{ answer: FAILED }, { jobId: 'second' }]);
    expect(await records.keepAnswer(asked, 'second', OTHER)).toBeNull();
    expect(await records.claim([asked], 'third')).toEqual([{ answer: FAILED }]);
  });

  it('names the job that a copy has started, and then keeps no answer', async () => {
    const asked = createAsked();
    await records.claim([asked], 'first');
    expect(await records.replace(asked, 'first', 'second')).toBe(true);
    expect(await records.keepAnswer(asked, 'first', FAILED)).toBe('second');
    expect(await records.claim([asked], 'third')).toEqual([{ jobId: 'second' }]);
  });

  it('keeps the answer for a time, and settles the payment after it', async () => {
    const asked = createAsked();
    await records.keepAnswer(asked, 'first', FAILED);
    const [key = ''] = await redis.keys(`*${asked.name}*`);
    expect(await redis.pttl(key)).toBeGreaterThan(0);
    await redis.del(key);
    expect(await records.claim([asked], 'second')).toEqual([{ jobId: 'second' }]);
  });
});
