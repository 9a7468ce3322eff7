import { mineSample, planSample, sampleAttempt, submitSample } from '../../test/sample-jobs.js';
import { openLane, useJournal, type OpenLane } from '../../test/start-journal.js';
import type { WaitReason } from '../jobs/job.js';
import type { StepWrite } from '../jobs/transition.js';

const REFUSES: WaitReason = { code: 'rpc_refuses', message: 'No server takes it:\n"quota".', suggestion: 'Wait.' };
const BALANCE: WaitReason = { ...REFUSES, code: 'balance' };

describe('what a job waits for', () => {
  const { journal } = useJournal();
  let { lane, token } = {} as OpenLane;
  let write: StepWrite;

  beforeEach(async () => {
    ({ lane, token } = await openLane(journal, 7));
    write = await submitSample(journal, lane, token);
  });

  const note = (why: WaitReason | null, forMs = 0, changes: Partial<StepWrite> = {}) =>
    journal.noteWaiting({ ...write, why, forMs, ...changes });
  const read = async () => (await journal.readJob(write.jobId))!;
  const readReported = async () =>
    (await journal.outbox.read(lane, { after: 0 }))
      .filter(({ type }) => type === 'transactionWaiting')
      .map(({ jobId, state, error }) => [jobId, state, error]);

  it('is kept with the time since when, and reported once for each code', async () => {
    expect(await note(REFUSES)).toEqual({ outcome: 'done', state: 'PLANNED' });
    const { waiting: first } = await read();
    expect(first).toMatchObject(REFUSES);
    await note({ ...REFUSES, message: 'Later words.' });
    expect((await read()).waiting).toEqual({ ...first, message: 'Later words.' });
    await note(BALANCE);
    await note(REFUSES);
    expect((await read()).waiting).toMatchObject(REFUSES);
    expect(await readReported()).toEqual([
      [write.jobId, 'PLANNED', REFUSES],
      [write.jobId, 'PLANNED', BALANCE],
    ]);
  });

  it('began at most as long ago as the job came to its state', async () => {
    await note(REFUSES, 600_000);
    const { waiting, updatedAtMs } = await read();
    expect(waiting!.sinceMs).toBe(updatedAtMs);
  });

  it('is nothing once the job has moved on, and is not reported again in the next state', async () => {
    await planSample(journal, write, ['one', 'two']);
    await note(REFUSES);
    const reserved = await journal.reserve({ ...write, maxInFlight: 10 });
    expect((await read()).waiting).toBeNull();
    await note(REFUSES);
    const attempt = sampleAttempt();
    await journal.putAttempt({ ...write, expectedAttempts: 0, nonce: Number(Object(reserved).nonce), attempt });
    expect((await read()).waiting).toBeNull();
    await note(REFUSES);
    expect((await read()).waiting).toMatchObject({ code: 'rpc_refuses' });
    await journal.cancel(write.jobId);
    expect(await readReported()).toHaveLength(1);
  });

  it('is nothing where the worker says so, and once the job has ended', async () => {
    await note(REFUSES);
    await note(null);
    expect((await read()).waiting).toBeNull();
    await planSample(journal, write);
    const blockHash = await mineSample(journal, write);
    await note(BALANCE);
    await journal.finishStep({ ...write, blockHash });
    expect(await read()).toMatchObject({ state: 'FINAL', waiting: null });
    expect(await note(REFUSES)).toEqual({ outcome: 'unchanged', state: 'FINAL' });
    expect((await read()).waiting).toBeNull();
  });

  it('is refused of a worker that lost the lane, of another step, and of a job that an operator has', async () => {
    expect(await note(REFUSES, 0, { token: write.token - 1 })).toMatchObject({ reason: 'stale_token' });
    expect(await note(REFUSES, 0, { stepIndex: 1 })).toMatchObject({ reason: 'wrong_step' });
    await journal.needOperator({ ...write, failure: REFUSES });
    expect(await note(REFUSES)).toMatchObject({ reason: 'wrong_state' });
    expect(await readReported()).toEqual([]);
  });
});
