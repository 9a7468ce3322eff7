import { FAILURE, sampleSignature, sampleStep, submitSample } from '../../test/sample-jobs.js';
import { openLane, useJournal, type OpenLane } from '../../test/start-journal.js';
import type { PlannedStep } from '../jobs/job.js';
import { jobKey, laneKey, spentKey } from '../jobs/keys.js';
import type { StepWrite } from '../jobs/transition.js';

const BYTES = `0x${'cd'.repeat(65)}` as const;
const OTHER = `0x${'ef'.repeat(65)}` as const;
const SPENDING = { asset: 'usdc', amount: 1000n, limit: 2500n };

describe('the signature of a step', () => {
  const { redis, journal } = useJournal();
  let { lane, token } = {} as OpenLane;
  let write: StepWrite;
  let step: ReturnType<typeof sampleSignature>;

  beforeEach(async () => {
    ({ lane, token } = await openLane(journal, 7));
    step = sampleSignature(lane.address);
    write = await submitSample(journal, lane, token);
  });

  const plan = (steps: readonly PlannedStep[] = [step]) =>
    journal.beginStep({ ...write, steps, plan: null, floorsHash: 'f', needsApproval: false, spendings: [SPENDING] });
  const put = (number: number, bytes: `0x${string}` = BYTES, signed = step) =>
    journal.putSignature({ ...write, number, signed, bytes });
  const finish = (number: number, isVoid = false) => journal.finishSignature({ ...write, number, isVoid });
  const read = async () => (await journal.readJob(write.jobId))!;
  const readSpent = async () => {
    const day = Math.floor((await read()).submittedAtMs / 86_400_000);
    return redis.hget(spentKey(lane, day), 'usdc');
  };
  const sign = async () => {
    await plan();
    return put(1);
  };

  it('is stored once with its step, counts against the limits, and takes no nonce', async () => {
    expect(await sign()).toEqual({ outcome: 'done', state: 'SIGNED' });
    expect(await put(1)).toEqual({ outcome: 'unchanged', state: 'SIGNED' });
    expect(await put(1, OTHER)).toMatchObject({ reason: 'wrong_state' });
    expect(await put(2, OTHER)).toMatchObject({ reason: 'wrong_state' });
    expect(await read()).toMatchObject({
      state: 'SIGNED',
      steps: [{ signs: step.signs, signature: { number: 1, bytes: BYTES }, nonce: null, attempts: [] }],
    });
    expect(await readSpent()).toBe('1000');
    expect(await journal.readLane(lane)).toMatchObject({ nextNonce: 7, unminedSteps: 0, openJobs: 1 });
    expect(await journal.readInFlight(lane)).toEqual([]);
  });

  it('is refused for a step that was not planned, or not like this, and once the job is to end', async () => {
    expect(await put(1)).toMatchObject({ reason: 'lost_race' });
    await plan();
    expect(await put(1, BYTES, sampleSignature(lane.address))).toMatchObject({ reason: 'lost_race' });
    expect(await put(2)).toMatchObject({ reason: 'lost_race' });
    expect(
      await journal.putSignature({ ...write, token: write.token - 1, number: 1, signed: step, bytes: BYTES }),
    ).toMatchObject({ reason: 'stale_token' });
    await journal.pauseLane(lane, FAILURE);
    expect(await put(1)).toMatchObject({ reason: 'lane_paused' });
    await redis.hset(laneKey(lane), 'frozen', 'lost');
    expect(await put(1)).toMatchObject({ reason: 'lane_frozen' });
    await redis.hdel(laneKey(lane), 'frozen', 'paused');
    await journal.cancel(write.jobId);
    expect(await put(1)).toMatchObject({ reason: 'wrong_state' });
    expect(await readSpent()).toBe('0');
  });

  it('is refused after a restart of Redis that was not noticed, until the lane is compared with the chain', async () => {
    await plan();
    await redis.hset(laneKey(lane), { run: 'another', process: 'another', durable: '0' });
    expect(await put(1)).toMatchObject({ reason: 'lane_frozen' });
    expect((await read()).steps[0]!.signature).toBeNull();
  });

  it('can be neither cancelled, planned away, given a nonce nor ended as a transaction', async () => {
    await sign();
    expect(await journal.cancel(write.jobId)).toMatchObject({ reason: 'too_late', state: 'SIGNED' });
    const hash = `0x${'11'.repeat(32)}` as const;
    const refused = [
      plan().then(({ plan: stored }) => stored),
      journal.reserve({ ...write, maxInFlight: 10 }),
      journal.failPlan({ ...write, failure: FAILURE, givesBackSpending: true }),
      journal.skipStep(write),
      journal.failAttempt({ ...write, hash, failure: FAILURE, givesBackSpending: true, evenIfSent: true }),
      journal.finishStep({ ...write, blockHash: hash }),
      journal.failStep({ ...write, blockHash: hash, failure: FAILURE, givesBackSpending: true }),
    ];
    for (const result of await Promise.all(refused))
      expect(['wrong_state', 'lost_race', 'lease_lost']).toContain('reason' in result ? result.reason : result.outcome);
    expect(await read()).toMatchObject({ state: 'SIGNED', steps: [{ signature: { bytes: BYTES }, nonce: null }] });
    expect(await readSpent()).toBe('1000');
  });

  it('does not take the place of a transaction that has its nonce', async () => {
    await plan([sampleStep()]);
    await journal.reserve({ ...write, maxInFlight: 10 });
    expect((await plan()).plan).toMatchObject({ reason: 'floors_changed', state: 'RESERVED' });
    expect((await read()).steps[0]).toMatchObject({ nonce: 7, label: sampleStep().label });
    expect(await put(1)).toMatchObject({ reason: 'wrong_state' });
  });

  it('ends the job with its answer, and its bytes are gone then', async () => {
    await sign();
    expect(await finish(2)).toMatchObject({ reason: 'lost_race' });
    expect(await finish(1)).toEqual({ outcome: 'done', state: 'FINAL' });
    expect(await finish(1)).toEqual({ outcome: 'unchanged', state: 'FINAL' });
    expect((await read()).steps[0]!.signature).toMatchObject({ number: 1, bytes: null });
    expect(JSON.stringify(await redis.hgetall(jobKey(lane, write.jobId)))).not.toContain(BYTES);
    expect(await readSpent()).toBe('1000');
    const events = await journal.outbox.read(lane, { after: 0 });
    expect(events.map(({ type, state }) => [type, state])).toEqual([['jobCompleted', 'FINAL']]);
  });

  it('makes room for the next once it is void, and gives its spending back only if the job ends so', async () => {
    await sign();
    expect(await finish(1, true)).toEqual({ outcome: 'done', state: 'PLANNED' });
    expect(await finish(1, true)).toEqual({ outcome: 'unchanged', state: 'PLANNED' });
    expect(await readSpent()).toBe('1000');
    const next = sampleSignature(lane.address);
    await plan([next]);
    expect(await put(1, OTHER, next)).toMatchObject({ reason: 'lost_race' });
    expect(await put(2, OTHER, next)).toEqual({ outcome: 'done', state: 'SIGNED' });
    expect((await read()).steps[0]).toMatchObject({ signs: next.signs, signature: { number: 2, bytes: OTHER } });
    expect(await finish(1, true)).toMatchObject({ reason: 'lost_race' });
    expect(await readSpent()).toBe('1000');
    await finish(2, true);
    expect(await journal.cancel(write.jobId)).toEqual({ outcome: 'done', state: 'CANCELLED' });
    expect(await readSpent()).toBe('0');
  });

  it('waits with its bytes for an operator, who resumes it, or abandons it without getting its spending back', async () => {
    await sign();
    await journal.needOperator({ ...write, failure: FAILURE });
    expect(await read()).toMatchObject({ state: 'NEEDS_OPERATOR', steps: [{ signature: { bytes: BYTES } }] });
    expect(await finish(1, true)).toMatchObject({ reason: 'wrong_state' });
    await journal.resumeJob(write.jobId);
    expect(await read()).toMatchObject({ state: 'SIGNED', steps: [{ signature: { number: 1, bytes: BYTES } }] });
    expect(await journal.readOpenJobs(lane)).toEqual([write.jobId]);
    await journal.needOperator({ ...write, failure: FAILURE });
    await journal.abandonJob({ jobId: write.jobId, minedNonce: 0, failure: FAILURE });
    expect((await read()).state).toBe('CANCELLED');
    expect(await readSpent()).toBe('1000');
  });
});
