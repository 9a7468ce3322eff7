import { Redis } from 'ioredis';

import { startRedis, type RedisServer } from '../../../devnet/redis.js';
import type { LaneId } from './job.js';
import { Journal } from './journal.js';
import {
  FAILURE,
  planSample,
  sampleAttempt,
  sampleHash,
  sampleLane,
  sampleRequest,
  sampleStep,
  submitSample,
} from './sample-jobs.js';

describe('the journal of jobs', () => {
  let server: RedisServer;
  let redis: Redis;
  let journal: Journal;
  let lane: LaneId;
  let token: number;

  beforeAll(async () => {
    server = await startRedis({ appendfsync: 'no' });
    redis = new Redis(server.url);
    journal = new Journal({ redis });
    await journal.open();
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  beforeEach(async () => {
    lane = sampleLane();
    expect(await journal.adopt(lane, { pendingNonce: 7 })).toEqual({ outcome: 'done' });
    token = (await journal.takeLease(lane, 'worker', 60_000))!.token;
  });

  const eventsOf = async (jobId: string) =>
    (await journal.outbox.read(lane, { after: 0 })).filter((event) => event.jobId === jobId);

  it('takes a job of two steps from its acceptance to its end', async () => {
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

  it('ends a failed step by taking back what the steps before left behind', async () => {
    const write = await submitSample(journal, lane, token);
    await planSample(journal, write, ['swap']);
    const first = await mine(write);
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
    const blockHash = await mine(second);
    expect(await journal.finishStep({ ...second, blockHash })).toMatchObject({ state: 'REVERTED' });
    expect((await eventsOf(write.jobId)).at(-1)).toMatchObject({ type: 'transactionFailed', error: FAILURE });
  });

  async function mine(write: { jobId: string; stepIndex: number; token: number }) {
    const reserved = await journal.reserve({ ...write, maxInFlight: 10 });
    if (reserved.outcome === 'refused') throw new Error(reserved.reason);
    const attempt = sampleAttempt();
    await journal.putAttempt({ ...write, expectedAttempts: 0, nonce: reserved.nonce, attempt });
    await journal.markBroadcast({ ...write, hash: attempt.hash });
    const blockHash = sampleHash();
    await journal.markMined({ ...write, mined: { hash: attempt.hash, blockNumber: 1, blockHash } });
    return blockHash;
  }
});
