import {
  FAILURE,
  mineSample,
  planSample,
  sampleAttempt,
  sampleHash,
  sampleRequest,
  sampleStep,
  spoilJob,
  submitSample,
} from '../../test/sample-jobs.js';
import { openLane, useJournal, type OpenLane } from '../../test/start-journal.js';
import { UnreadableJobError } from '../jobs/parse-job.js';
import { Journal } from './journal.js';

describe('the journal of jobs', () => {
  const { redis, journal } = useJournal();
  let { lane, token } = {} as OpenLane;

  beforeEach(async () => {
    ({ lane, token } = await openLane(journal, 7));
  });

  const eventsOf = async (jobId: string) =>
    (await journal.outbox.read(lane, { after: 0 })).filter((event) => event.jobId === jobId);

  it('takes a job of two steps from submission to its end', async () => {
    const write = await submitSample(journal, lane, token, { retryOf: 'j-old' });
    await planSample(journal, write, ['approve', 'swap']);
    const blockHash = sampleHash();
    for (const [index, nonce] of [7, 8].entries()) {
      const step = { ...write, stepIndex: index };
      expect(await journal.reserve({ ...step, maxInFlight: 10 })).toEqual({
        outcome: 'done',
        nonce,
        state: 'RESERVED',
      });
      const attempt = sampleAttempt();
      expect(await journal.putAttempt({ ...step, expectedAttempts: 0, nonce, attempt })).toEqual({
        outcome: 'done',
        state: 'SIGNED',
      });
      expect(await journal.markBroadcast({ ...step, hash: attempt.hash })).toMatchObject({ state: 'BROADCAST' });
      expect(await journal.readInFlight(lane)).toEqual([{ jobId: write.jobId, stepIndex: index, nonce }]);
      const mined = { hash: attempt.hash, blockNumber: 5 + index, blockHash };
      expect(await journal.markMined({ ...step, mined })).toMatchObject({ state: 'MINED' });
      expect(await journal.readJob(write.jobId)).toMatchObject({
        state: 'MINED',
        stepIndex: index,
        steps: { [index]: { nonce, mined, attempts: [{ ...attempt, sentAtMs: expect.any(Number) }] } },
      });
      expect(await journal.finishStep({ ...step, blockHash })).toMatchObject({
        state: index === 0 ? 'PLANNED' : 'FINAL',
      });
    }
    const job = await journal.readJob(write.jobId);
    expect(job).toMatchObject({
      lane,
      operation: 'swap',
      input: sampleRequest(lane).input,
      retryOf: 'j-old',
      failure: null,
      ending: null,
      endedAtMs: expect.any(Number),
      steps: [
        { ...sampleStep('approve'), attempts: [{ raw: null }] },
        { ...sampleStep('swap'), attempts: [{ raw: null }] },
      ],
    });
    const events = await eventsOf(write.jobId);
    expect(events.map(({ type }) => type)).toEqual([
      'transactionSubmitted',
      'transactionConfirmed',
      'transactionSubmitted',
      'transactionConfirmed',
      'jobCompleted',
    ]);
    expect(events.at(-1)).toMatchObject({
      id: `${write.jobId}:FINAL:${events.at(-1)!.sequence}`,
      txHash: job!.steps[1]!.mined!.hash,
      keyId: 'key-1',
      lane,
    });
    expect(await journal.readOpenJobs(lane)).toEqual([]);
    expect(await journal.readInFlight(lane)).toEqual([]);
    expect(await journal.readLane(lane)).toMatchObject({ nextNonce: 9, openJobs: 0, unminedSteps: 0 });
  });

  it('undoes what a successful job has left, and ends it as FINAL whatever the outcome of that', async () => {
    for (const fails of [false, true]) {
      const write = await submitSample(journal, lane, token);
      await planSample(journal, write, ['swap']);
      const blockHash = await mineSample(journal, write);
      const undo = [sampleStep('revoke')];
      expect(await journal.finishStep({ ...write, blockHash, undo })).toMatchObject({ state: 'PLANNED' });
      expect(await journal.finishStep({ ...write, blockHash, undo })).toMatchObject({ outcome: 'unchanged' });
      expect(await journal.readJob(write.jobId)).toMatchObject({
        ending: { state: 'FINAL', failure: null, undoing: true },
        stepIndex: 1,
      });
      expect(await journal.cancel(write.jobId)).toMatchObject({ reason: 'too_late' });

      const second = { ...write, stepIndex: 1 };
      const last = { ...second, blockHash: await mineSample(journal, second) };
      const end = fails
        ? await journal.failStep({ ...last, failure: FAILURE, givesBackSpending: false })
        : await journal.finishStep(last);
      expect(end).toMatchObject({ state: 'FINAL' });
      const job = await journal.readJob(write.jobId);
      expect(job).toMatchObject({ state: 'FINAL', failure: null, ending: null });
      // The event contains the job's own transaction.
      const completed = (await eventsOf(write.jobId)).at(-1);
      expect(completed).toMatchObject({ type: 'jobCompleted', txHash: job!.steps[0]!.mined!.hash });
      expect(completed?.error).toBeUndefined();
    }
  });

  it('ends a failed job by undoing its earlier steps', async () => {
    const write = await submitSample(journal, lane, token);
    await planSample(journal, write, ['swap']);
    const first = await mineSample(journal, write);
    expect(
      await journal.failStep({
        ...write,
        blockHash: first,
        failure: FAILURE,
        givesBackSpending: true,
        undo: [sampleStep('revoke')],
      }),
    ).toMatchObject({ state: 'PLANNED' });
    expect(await journal.readJob(write.jobId)).toMatchObject({
      ending: { state: 'REVERTED', failure: FAILURE, undoing: true },
      stepIndex: 1,
    });
    expect((await eventsOf(write.jobId)).map(({ type }) => type)).toEqual(['transactionSubmitted']);
    const second = { ...write, stepIndex: 1 };
    const blockHash = await mineSample(journal, second);
    expect(await journal.finishStep({ ...second, blockHash })).toMatchObject({ state: 'REVERTED' });
    expect((await eventsOf(write.jobId)).at(-1)).toMatchObject({ type: 'transactionFailed', error: FAILURE });
  });

  it('ends with the original failure when the undo fails too', async () => {
    for (const fail of ['failPlan', 'failStep'] as const) {
      const write = await submitSample(journal, lane, token);
      await planSample(journal, write, ['approve', 'swap']);
      await journal.finishStep({ ...write, blockHash: await mineSample(journal, write) });
      const second = { ...write, stepIndex: 1 };
      const undo = [sampleStep('revoke')];
      await journal.failPlan({ ...second, failure: FAILURE, givesBackSpending: true, undo });
      const other = { failure: { ...FAILURE, code: 'OTHER' }, givesBackSpending: false };
      if (fail === 'failPlan') await journal.failPlan({ ...second, ...other });
      else await journal.failStep({ ...second, ...other, blockHash: await mineSample(journal, second) });
      expect(await journal.readJob(write.jobId)).toMatchObject({ state: 'PLAN_FAILED', failure: FAILURE });
    }
  });

  it('skips a step that is not needed', async () => {
    const write = await submitSample(journal, lane, token);
    await planSample(journal, write, ['approve', 'swap']);
    await journal.skipStep(write);
    const second = { ...write, stepIndex: 1 };
    await journal.finishStep({ ...second, blockHash: await mineSample(journal, second) });
    expect(await journal.readJob(write.jobId)).toMatchObject({
      state: 'FINAL',
      steps: [
        { skipped: true, nonce: null },
        { skipped: false, nonce: 7 },
      ],
    });
  });

  it('ends a job whose plan has no steps', async () => {
    const write = await submitSample(journal, lane, token);
    await planSample(journal, write, []);
    expect(await journal.reserve({ ...write, maxInFlight: 1 })).toMatchObject({ reason: 'wrong_state' });
    expect(await journal.skipStep(write)).toMatchObject({ state: 'FINAL' });
  });

  it('puts a step back when its block leaves the chain, and finds it in another', async () => {
    const write = await submitSample(journal, lane, token);
    await planSample(journal, write);
    const lost = await mineSample(journal, write);
    const { hash } = (await journal.readJob(write.jobId))!.steps[0]!.attempts[0]!;
    expect(await journal.unmine({ ...write, blockHash: lost })).toMatchObject({ state: 'BROADCAST' });
    expect(await journal.readLane(lane)).toMatchObject({ unminedSteps: 1 });
    const found = { hash, blockNumber: 2, blockHash: sampleHash() };
    await journal.markMined({ ...write, mined: found });
    expect(await journal.finishStep({ ...write, blockHash: lost })).toMatchObject({ reason: 'lost_race' });
    // A second reorganisation that went unnoticed.
    const moved = { ...found, blockHash: sampleHash() };
    expect(await journal.markMined({ ...write, mined: moved })).toMatchObject({ outcome: 'done' });
    expect(await journal.unmine({ ...write, blockHash: found.blockHash })).toMatchObject({ outcome: 'unchanged' });
    expect(await journal.finishStep({ ...write, blockHash: moved.blockHash })).toMatchObject({ state: 'FINAL' });
    expect((await eventsOf(write.jobId)).filter(({ type }) => type === 'transactionSubmitted')).toHaveLength(1);
  });

  it('reports a transaction whose sending was never acknowledged once it is mined', async () => {
    const write = await submitSample(journal, lane, token);
    await planSample(journal, write);
    await journal.reserve({ ...write, maxInFlight: 1 });
    const attempts = [sampleAttempt(), sampleAttempt('replacement')] as const;
    await journal.putAttempt({ ...write, expectedAttempts: 0, nonce: 7, attempt: attempts[0] });
    await journal.putAttempt({ ...write, expectedAttempts: 1, nonce: 7, attempt: attempts[1] });
    const { hash } = attempts[1];
    await journal.markMined({ ...write, mined: { hash, blockNumber: 1, blockHash: sampleHash() } });
    // The answer to the sending arrives late.
    await journal.markBroadcast({ ...write, hash });
    expect(await eventsOf(write.jobId)).toMatchObject([{ type: 'transactionSubmitted', txHash: hash }]);
    expect(await journal.readJob(write.jobId)).toMatchObject({
      steps: [{ attempts: [{ sentAtMs: null }, { sentAtMs: expect.any(Number) }] }],
    });
  });

  it('binds an approval to the floors of the plan', async () => {
    const write = await submitSample(journal, lane, token);
    const plan = (floorsHash: string) =>
      journal.putPlan({ ...write, steps: [sampleStep()], plan: null, floorsHash, needsApproval: true });
    const approve = (floorsHash: string) => journal.approve({ jobId: write.jobId, floorsHash, approvedBy: 'boss' });
    await plan('low');
    await plan('high');
    expect(await approve('low')).toMatchObject({ reason: 'floors_changed' });
    expect(await approve('high')).toEqual({ outcome: 'done', state: 'PLANNED' });
    expect(await approve('high')).toEqual({ outcome: 'unchanged', state: 'PLANNED' });
    expect(await journal.readJob(write.jobId)).toMatchObject({ approval: { floorsHash: 'high', approvedBy: 'boss' } });
    // The quote is refreshed: within the approved bounds the job continues, outside it needs a new approval.
    expect(await plan('high')).toMatchObject({ state: 'PLANNED' });
    expect(await plan('low')).toMatchObject({ state: 'AWAITING_APPROVAL' });
    expect(await journal.readJob(write.jobId)).toMatchObject({ approval: { floorsHash: 'low', approvedBy: null } });
    await approve('low');
    await journal.reserve({ ...write, maxInFlight: 1 });
    expect(await plan('high')).toMatchObject({ reason: 'floors_changed' });
    expect(await plan('low')).toMatchObject({ state: 'RESERVED' });
    // One event for each needed approval, and no more.
    const events = (await journal.outbox.read(lane, { after: 0 })).filter(({ jobId }) => jobId === write.jobId);
    expect(events).toMatchObject(
      Array(2).fill({
        type: 'jobNeedsOperator',
        state: 'AWAITING_APPROVAL',
        error: { code: 'APPROVAL_NEEDED', suggestion: expect.stringContaining('approve') },
      }),
    );
  });

  // Prevents: the approver is answered that the job continues although it has ended, or the reverse.
  it('lets the approval or the timeout decide, whichever comes first', async () => {
    const another = redis.duplicate();
    const other = new Journal({ redis: another });
    await other.open();
    for (let turn = 0; turn < 40; turn++) {
      const write = await submitSample(journal, lane, token);
      const { jobId } = write;
      await journal.putPlan({ ...write, steps: [sampleStep()], plan: null, floorsHash: 'f', needsApproval: true });
      const approve = () => other.approve({ jobId, floorsHash: 'f', approvedBy: 'boss' });
      const expire = () => journal.expireApproval({ ...write, waitedMs: 0, failure: FAILURE });
      const [approved, expired] =
        turn % 2 === 0
          ? await Promise.all([approve(), expire()])
          : (await Promise.all([expire(), approve()])).reverse();
      const [won, lost] = approved!.outcome === 'done' ? [approved, expired] : [expired, approved];
      expect([won, lost]).toMatchObject([{ outcome: 'done' }, { outcome: 'refused', reason: 'wrong_state' }]);
      expect((await journal.readJob(jobId))!.state).toBe(won === approved ? 'PLANNED' : 'REJECTED');
    }
    another.disconnect();
  });

  describe('cancelling', () => {
    it.each(['first', 'cancel'] as const)('ends according to the attempt that is mined: %s', async (winner) => {
      const write = await submitSample(journal, lane, token);
      await planSample(journal, write);
      await journal.reserve({ ...write, maxInFlight: 1 });
      const attempts = { first: sampleAttempt(), cancel: sampleAttempt('cancel') };
      await journal.putAttempt({ ...write, expectedAttempts: 0, nonce: 7, attempt: attempts.first });
      expect(await journal.cancel(write.jobId)).toMatchObject({ outcome: 'cancelling' });
      const put = (attempt: typeof attempts.first, expectedAttempts: number) =>
        journal.putAttempt({ ...write, expectedAttempts, nonce: 7, attempt });
      expect(await put(sampleAttempt('replacement'), 1)).toMatchObject({ reason: 'ending' });
      expect(await put(attempts.cancel, 1)).toMatchObject({ outcome: 'done' });
      expect(await journal.readJob(write.jobId)).toMatchObject({
        ending: { state: 'CANCELLED', undoing: false },
        steps: [{ voided: true }],
      });
      const blockHash = sampleHash();
      await journal.markMined({ ...write, mined: { hash: attempts[winner].hash, blockNumber: 1, blockHash } });
      await journal.finishStep({ ...write, blockHash });
      const job = await journal.readJob(write.jobId);
      if (winner === 'first') expect(job).toMatchObject({ state: 'FINAL', failure: null, ending: null });
      else expect(job).toMatchObject({ state: 'CANCELLED', failure: { code: 'JOB_CANCELLED' } });
    });

    it('uses the nonce of a step whose plan failed after it was reserved', async () => {
      const write = await submitSample(journal, lane, token);
      await planSample(journal, write);
      await journal.reserve({ ...write, maxInFlight: 1 });
      await journal.failPlan({ ...write, failure: FAILURE, givesBackSpending: true });
      const blockHash = await mineSample(journal, write, 'cancel');
      expect(await journal.finishStep({ ...write, blockHash })).toMatchObject({ state: 'PLAN_FAILED' });
      expect(await journal.readJob(write.jobId)).toMatchObject({ failure: FAILURE });
    });

    it('undoes earlier steps before the job ends', async () => {
      for (const stage of ['between the steps', 'in the second step'] as const) {
        const write = await submitSample(journal, lane, token);
        await planSample(journal, write, ['approve', 'swap', 'stake']);
        await journal.finishStep({ ...write, blockHash: await mineSample(journal, write) });
        const second = { ...write, stepIndex: 1 };
        let next = second;
        if (stage === 'between the steps') {
          expect(await journal.cancel(write.jobId)).toEqual({ outcome: 'cancelling', state: 'PLANNED' });
        } else {
          await journal.reserve({ ...second, maxInFlight: 9 });
          await journal.cancel(write.jobId);
          const blockHash = await mineSample(journal, second, 'cancel');
          expect(await journal.finishStep({ ...second, blockHash })).toMatchObject({ state: 'PLANNED' });
          next = { ...write, stepIndex: 2 };
        }
        expect(await journal.reserve({ ...next, maxInFlight: 9 })).toMatchObject({ outcome: 'refused' });
        const undo = [sampleStep('revoke')];
        await journal.failPlan({ ...next, failure: FAILURE, givesBackSpending: true, undo });
        await journal.finishStep({ ...next, blockHash: await mineSample(journal, next) });
        expect(await journal.readJob(write.jobId)).toMatchObject({
          state: 'CANCELLED',
          failure: { code: 'JOB_CANCELLED' },
        });
      }
    });

    it('stops a job of several steps after the one that was mined', async () => {
      const write = await submitSample(journal, lane, token);
      await planSample(journal, write, ['approve', 'swap']);
      const blockHash = await mineSample(journal, write);
      expect(await journal.cancel(write.jobId)).toEqual({ outcome: 'cancelling', state: 'MINED' });
      await journal.finishStep({ ...write, blockHash });
      const second = { ...write, stepIndex: 1 };
      expect(await journal.reserve({ ...second, maxInFlight: 9 })).toMatchObject({ reason: 'ending' });
      await journal.failPlan({ ...second, failure: FAILURE, givesBackSpending: true });
      expect(await journal.readJob(write.jobId)).toMatchObject({ state: 'CANCELLED' });
    });
  });

  it('keeps the first value of a detail', async () => {
    const { jobId } = await submitSample(journal, lane, token);
    const put = (value: string) => journal.putDetail({ jobId, token, name: 'challenge', value });
    expect(await put('one')).toBe('one');
    expect(await put('two')).toBe('one');
    expect(await journal.readJob(jobId)).toMatchObject({ details: { challenge: 'one' } });
    expect(await journal.putDetail({ jobId, token: token + 1, name: 'answer', value: 1 })).toBeNull();
  });

  it('reports unreadable data as such', async () => {
    const { jobId } = await submitSample(journal, lane, token);
    await spoilJob(redis, lane, jobId);
    await expect(journal.readJob(jobId)).rejects.toMatchObject({ code: 'journal_unreadable' });
  });

  it('reads the other jobs when one cannot be read', async () => {
    const { jobId } = await submitSample(journal, lane, token);
    const { jobId: unreadable } = await submitSample(journal, lane, token);
    await spoilJob(redis, lane, unreadable);
    expect(await journal.readEachJob([unreadable, jobId, 'no-job'])).toEqual([
      expect.any(UnreadableJobError),
      expect.objectContaining({ id: jobId, state: 'PLANNED' }),
      null,
    ]);
  });

  it.each([2n ** 256n, -1n])('writes no step with %p, which it could not read again', async (gas) => {
    const write = await submitSample(journal, lane, token);
    const steps = [{ ...sampleStep(), gas }];
    const putting = journal.putPlan({ ...write, steps, plan: null, floorsHash: 'none', needsApproval: false });
    await expect(putting).rejects.toThrow(TypeError);
    expect(await journal.readJob(write.jobId)).toMatchObject({ state: 'PLANNED', steps: [] });
  });

  it.each(['', 'x', '../../lane', `j00000000-${'0'.repeat(24)}`])('has no job %p', async (jobId) => {
    expect(await journal.readJob(jobId)).toBeNull();
    expect(await journal.cancel(jobId)).toEqual({ outcome: 'refused', reason: 'not_found', state: null });
  });
});
