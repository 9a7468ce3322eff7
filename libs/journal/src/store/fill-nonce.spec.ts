import { parseBookEvent } from '@tollgate/book-events';

import {
  FAILURE,
  mineSample,
  planSample,
  sampleAttempt,
  sampleHash,
  sampleStep,
  submitSample,
} from '../../test/sample-jobs.js';
import { openLane, useJournal, type OpenLane } from '../../test/start-journal.js';
import { jobKey, laneKey, nameLane } from '../jobs/keys.js';
import type { FillRequest, FillResult, StepWrite } from '../jobs/transition.js';
import { placeOf } from '../steps/step-rules.js';

describe('a nonce that the chain wants and no step in flight has', () => {
  const { redis, journal } = useJournal();
  let { lane, lease, token } = {} as OpenLane;

  beforeEach(async () => {
    ({ lane, lease, token } = await openLane(journal, 7));
  });

  const noteGap = (nonce: number | null = 7) => journal.noteGap(lane, { token, nonce });
  const readGap = async () => (await journal.readLane(lane)).gap;
  const fill = (hadBy: string | null, changes: Partial<FillRequest> = {}): Promise<FillResult> =>
    journal.fillNonce({ lane, nonce: 7, wallet: 'main', keyId: 'operator', hadBy, mostPerHour: null, ...changes });

  const jobIdOf = (result: FillResult): string => {
    if (result.outcome === 'refused') throw new Error(result.reason);
    return result.jobId;
  };

  /** Its only attempts are of kind `cancel`; mined and final. */
  const mineFill = async (jobId: string, nonce = 7): Promise<void> => {
    const write = { jobId, stepIndex: 0, token };
    const attempt = sampleAttempt('cancel');
    await journal.putAttempt({ ...write, expectedAttempts: 0, nonce, attempt });
    const mined = { hash: attempt.hash, blockNumber: 9, blockHash: sampleHash() };
    expect(await journal.finishMined({ ...write, mined })).toMatchObject({ outcome: 'done', state: 'FINAL' });
  };

  /** `undo`: what revokes the job's leftovers once its last step has succeeded. */
  const endJob = async (labels: readonly string[] = ['swap'], undo: readonly string[] = []): Promise<string> => {
    const write = await submitSample(journal, lane, token);
    await planSample(journal, write, labels);
    for (const stepIndex of [...labels, ...undo].keys()) {
      const step = { ...write, stepIndex };
      const blockHash = await mineSample(journal, step);
      await journal.finishStep({ ...step, blockHash, undo: undo.map((label) => sampleStep(label)) });
    }
    return write.jobId;
  };

  const park = async (advance: (write: StepWrite) => Promise<unknown>): Promise<StepWrite> => {
    const write = await submitSample(journal, lane, token);
    await planSample(journal, write);
    await advance(write);
    await journal.needOperator({ ...write, failure: FAILURE });
    return write;
  };

  it('is noted with the job that had it, by the holder of the lane alone, until it is gone', async () => {
    const jobId = await endJob(['approve', 'swap']);
    await noteGap();
    expect(await readGap()).toEqual({ nonce: 7, hadBy: { jobId, stepIndex: 0 }, isUnheld: false });
    await noteGap(8);
    expect(await readGap()).toEqual({ nonce: 8, hadBy: { jobId, stepIndex: 1 }, isUnheld: false });
    await noteGap(9);
    expect(await readGap()).toEqual({ nonce: 9, hadBy: null, isUnheld: false });
    await noteGap(6);
    expect(await readGap()).toEqual({ nonce: 6, hadBy: null, isUnheld: true });
    expect(await journal.noteGap(lane, { token: token - 1, nonce: null })).toMatchObject({ reason: 'stale_token' });
    await noteGap(null);
    expect(await readGap()).toBeNull();
  });

  it('is filled by a step that can only be a cancel, in flight at once', async () => {
    const ended = await endJob();
    await noteGap();
    const jobId = jobIdOf(await fill(ended));
    expect(await journal.readJob(jobId)).toMatchObject({
      state: 'RESERVED',
      operation: 'fillNonce',
      keyId: 'operator',
      wallet: 'main',
      input: { nonce: 7, hadBy: ended },
      steps: [{ nonce: 7, voided: true, value: 0n, to: lane.address }],
    });
    expect(await journal.readInFlight(lane)).toEqual([{ jobId, stepIndex: 0, nonce: 7 }]);
    expect(await journal.readOpenJobs(lane)).toEqual([jobId]);
    const write = { jobId, stepIndex: 0, token, expectedAttempts: 0, nonce: 7 };
    expect(await journal.putAttempt({ ...write, attempt: sampleAttempt() })).toMatchObject({ reason: 'ending' });
    await noteGap();
    expect(await readGap()).toBeNull();
    expect(await journal.cancel(jobId)).toMatchObject({ reason: 'too_late' });
  });

  it('is filled once, however many ask', async () => {
    const ended = await endJob();
    await noteGap();
    const results = await Promise.all([fill(ended), fill(ended, { keyId: 'other' }), fill(ended)]);
    expect(results.map(({ outcome }) => outcome).sort()).toEqual(['done', 'unchanged', 'unchanged']);
    expect(new Set(results.map(jobIdOf)).size).toBe(1);
    expect(await journal.readInFlight(lane)).toHaveLength(1);
  });

  it('was the nonce of a job that ended: once the fill is final, the job has not taken place', async () => {
    const ended = await endJob();
    await noteGap();
    const jobId = jobIdOf(await fill(ended));
    expect(await journal.readJob(ended)).toMatchObject({ state: 'FINAL', failure: null });
    await mineFill(jobId);
    expect(await journal.readJob(ended)).toMatchObject({ state: 'CANCELLED', failure: { code: 'NONCE_FILLED' } });
    const events = await journal.outbox.read(lane, { after: 0 });
    expect(events.slice(-2)).toMatchObject([
      { jobId, type: 'jobCompleted', operation: 'fillNonce' },
      { jobId: ended, type: 'transactionFailed', state: 'CANCELLED', error: { code: 'NONCE_FILLED' } },
    ]);
  });

  it('was the nonce of what the job was for: the job has not taken place, whatever revoked its leftovers', async () => {
    const ended = await endJob(['approve', 'swap'], ['revoke']);
    await noteGap(8);
    await mineFill(jobIdOf(await fill(ended, { nonce: 8 })), 8);
    expect(await journal.readJob(ended)).toMatchObject({ state: 'CANCELLED', failure: { code: 'NONCE_FILLED' } });
  });

  it('was the nonce of an earlier step: the failure is told, and only the chain shows what became of the job', async () => {
    const ended = await endJob(['approve', 'swap']);
    await noteGap();
    await mineFill(jobIdOf(await fill(ended)));
    expect(await journal.readJob(ended)).toMatchObject({ state: 'FINAL', failure: { code: 'NONCE_FILLED' } });
  });

  it('ends without the fill where another transaction uses it', async () => {
    const ended = await endJob();
    await noteGap();
    const jobId = jobIdOf(await fill(ended));
    const end = () => journal.endFill({ jobId, stepIndex: 0, token, failure: FAILURE });
    expect(await end()).toEqual({ outcome: 'done', state: 'CANCELLED' });
    expect(await end()).toEqual({ outcome: 'unchanged', state: 'CANCELLED' });
    expect(await journal.readJob(ended)).toMatchObject({ state: 'FINAL', failure: null });
    expect(await journal.readInFlight(lane)).toEqual([]);
    // The job that had the nonce has it still, not the fill.
    await noteGap();
    expect(await readGap()).toMatchObject({ hadBy: { jobId: ended } });
  });

  describe('of a job that waits for an operator', () => {
    const reserve = (write: StepWrite) => journal.reserve({ ...write, maxInFlight: 9 });

    it.each([
      ['RESERVED', reserve],
      ['BROADCAST', (write: StepWrite) => mineSample(journal, write)],
    ] as const)('cancels that job itself, which is %s then', async (state, advance) => {
      const { jobId } = await park(advance);
      await noteGap();
      expect(await fill(jobId)).toEqual({ outcome: 'done', jobId });
      expect(await journal.readJob(jobId)).toMatchObject({
        state,
        failure: null,
        ending: { state: 'CANCELLED', failure: { code: 'NONCE_FILLED' } },
        steps: [{ nonce: 7, voided: true, mined: null }],
      });
      expect(await journal.readInFlight(lane)).toEqual([{ jobId, stepIndex: 0, nonce: 7 }]);
      expect(await fill(jobId)).toEqual({ outcome: 'unchanged', jobId });
      expect(await journal.readLane(lane)).toMatchObject({ openJobs: 1, unminedSteps: 1, gap: null });
    });

    it.each([
      ['CANCELLED', 'cancel'],
      ['FINAL', 'first'],
    ] as const)('ends as %s where the transaction of kind %s is mined', async (state, mined) => {
      const write = await park((one) => mineSample(journal, one));
      await noteGap();
      await fill(write.jobId);
      const attempt = sampleAttempt('cancel');
      await journal.putAttempt({ ...write, expectedAttempts: 1, nonce: 7, attempt });
      const { attempts } = (await journal.readJob(write.jobId))!.steps[0]!;
      const { hash } = attempts.find(({ kind }) => kind === mined)!;
      const block = { blockNumber: 9, blockHash: sampleHash() };
      expect(await journal.finishMined({ ...write, mined: { hash, ...block } })).toMatchObject({ state });
    });

    it('is used, and not by the job, also where somebody had cancelled the job before', async () => {
      const cancel = sampleAttempt('cancel');
      const write = await park(async (one) => {
        await reserve(one);
        await journal.putAttempt({ ...one, expectedAttempts: 0, nonce: 7, attempt: sampleAttempt() });
        await journal.cancel(one.jobId);
        await journal.putAttempt({ ...one, expectedAttempts: 1, nonce: 7, attempt: cancel });
      });
      await noteGap();
      await fill(write.jobId);
      expect(placeOf((await journal.readJob(write.jobId))!)).toBe('using_up');
      // The servers' refusal of the cancel may be of before the fill.
      const dropped = await journal.dropCancel({ ...write, hash: cancel.hash, failure: FAILURE });
      expect(dropped).toMatchObject({ outcome: 'refused', reason: 'ending' });
      expect(await journal.readJob(write.jobId)).toMatchObject({ steps: [{ voided: true }] });
    });

    it('is not filled once that job was resumed', async () => {
      const { jobId } = await park(reserve);
      await noteGap();
      await journal.resumeJob(jobId);
      expect(await fill(jobId)).toEqual({ outcome: 'refused', reason: 'no_gap' });
      expect(await journal.readJob(jobId)).toMatchObject({ ending: null, steps: [{ voided: false }] });
    });
  });

  it('is not filled where it is another nonce, had by another job, or not a gap any more', async () => {
    const ended = await endJob();
    expect(await fill(ended)).toMatchObject({ reason: 'no_gap' });
    await noteGap();
    expect(await fill(null)).toMatchObject({ reason: 'lost_race' });
    expect(await fill(ended, { nonce: 6 })).toMatchObject({ reason: 'no_gap' });
    await noteGap(null);
    expect(await fill(ended)).toMatchObject({ reason: 'no_gap' });
    expect(await journal.readInFlight(lane)).toEqual([]);
  });

  it('is not filled while Redis may have lost what was sent', async () => {
    const ended = await endJob();
    await noteGap();
    await redis.hset(laneKey(lane), 'frozen', 'lost');
    expect(await fill(ended)).toEqual({ outcome: 'refused', reason: 'lane_frozen' });
    await redis.hdel(laneKey(lane), 'frozen');
    await redis.hset(laneKey(lane), { run: 'of a restarted server', process: '' });
    expect(await fill(ended)).toEqual({ outcome: 'refused', reason: 'lane_frozen' });
  });

  describe('is filled without an operator', () => {
    const fillAlone = (nonce: number, mostPerHour = 2) => fill(null, { nonce, mostPerHour, keyId: 'worker' });

    it('where no job ever had it, as often in an hour as may be', async () => {
      for (const nonce of [3, 4]) {
        await noteGap(nonce);
        const { outcome, ...of } = await fillAlone(nonce);
        expect(outcome).toBe('done');
        await journal.endFill({
          jobId: jobIdOf({ outcome: 'done', ...of } as FillResult),
          stepIndex: 0,
          token,
          failure: FAILURE,
        });
      }
      await noteGap(5);
      expect(await fillAlone(5)).toEqual({ outcome: 'refused', reason: 'too_often' });
      const filledAt = (await redis.hget(laneKey(lane), 'filledAt'))!;
      const hourAgo = filledAt.replace(/\d+/, (at) => `${Number(at) - 3_600_000}`);
      await redis.hset(laneKey(lane), 'filledAt', hourAgo);
      expect(await fillAlone(5)).toMatchObject({ outcome: 'done' });
    });

    it('not where a job had it: ended, cancelled, parked, or forgotten by now', async () => {
      const held = { outcome: 'refused', reason: 'nonce_held' };
      const ended = await endJob();
      const { jobId: parked } = await park((write) => journal.reserve({ ...write, maxInFlight: 9 }));
      for (const [nonce, jobId] of [
        [7, ended],
        [8, parked],
      ] as const) {
        await noteGap(nonce);
        expect(await fill(jobId, { nonce, mostPerHour: 2 })).toEqual(held);
        await redis.del(jobKey(lane, jobId));
        await noteGap(nonce);
        expect(await fillAlone(nonce)).toEqual(held);
      }
      // A fill is a job too, also one that was forgotten.
      await noteGap(3);
      const filled = jobIdOf(await fillAlone(3));
      await journal.endFill({ jobId: filled, stepIndex: 0, token, failure: FAILURE });
      await redis.del(jobKey(lane, filled));
      await noteGap(3);
      expect(await fillAlone(3)).toEqual(held);
    });

    it.each([
      ['Redis has lost writes since', () => redis.hset(laneKey(lane), { run: 'restored', process: '', durable: '0' })],
      ['the lane was adopted again', () => journal.pauseLane(lane, FAILURE)],
      [
        'the account was released since',
        async () => {
          await journal.releaseLease(lease);
          await journal.release(lane);
        },
      ],
    ])('not where %s', async (_, change) => {
      await change();
      await journal.open();
      await journal.adopt(lane, { pendingNonce: 7 });
      await journal.resumeLane(lane);
      ({ token } = (await journal.takeLease(lane, 'worker', 600_000))!);
      await noteGap(6);
      expect(await readGap()).toEqual({ nonce: 6, hadBy: null, isUnheld: false });
      expect(await fillAlone(6)).toEqual({ outcome: 'refused', reason: 'nonce_held' });
    });

    it('not while the lane is paused', async () => {
      await noteGap(6);
      await journal.pauseLane(lane, FAILURE);
      expect(await fillAlone(6)).toEqual({ outcome: 'refused', reason: 'lane_paused' });
      expect(await fill(null, { nonce: 6 })).toMatchObject({ outcome: 'done' });
    });
  });

  it('is reported to the book with who filled it, where there is a book', async () => {
    const book = laneKey(lane).replace(/lane$/, 'book');
    await noteGap(6);
    await fill(null, { nonce: 6, keyId: 'worker' });
    expect(await redis.xlen(book)).toBe(0);
    await redis.hset(laneKey(lane), 'book', 'on');
    for (const [nonce, keyId] of [
      [7, 'console'],
      [8, 'key-of-the-operator-api'],
    ] as const) {
      await noteGap(nonce);
      await fill(null, { nonce, keyId });
    }
    const entries = await redis.xrange(book, '-', '+');
    const facts = {
      keyId: 'console',
      action: 'wallet.fill',
      subject: 'main',
      details: { lane: nameLane(lane), nonce: 7 },
    };
    expect(entries.map(([, fields]) => parseBookEvent(fields))).toMatchObject([{ type: 'acted', payment: '', facts }]);
  });
});
