import { Redis } from 'ioredis';

import { restart } from '../../../../test/harness/stack/own-redis.js';
import { startRedis, type RedisServer } from '../../../../tools/devnet/processes/redis.js';
import { planSample, sampleAttempt, sampleHash, sampleRequest } from '../../test/sample-jobs.js';
import { openLane } from '../../test/start-journal.js';
import { isFinal } from '../jobs/job.js';
import { Journal } from '../store/journal.js';

/** The calls that complete a job of two steps. Each may be repeated from its own start. */
const CALLS = [
  'submit',
  'plan',
  ...Array(2).fill(['reserve', 'sign', 'broadcast', 'mine', 'finish']),
].flat() as string[];

describe('kill -9 of Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let journal: Journal;

  beforeAll(async () => {
    server = await startRedis({ appendfsync: 'always' });
    redis = new Redis(server.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    redis.on('error', () => undefined);
    journal = new Journal({ redis, timeoutMs: 20_000 });
    await journal.open();
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it.each(CALLS.map((call, index) => [index, call]))('loses nothing after call %d, %s', async (crashAfter) => {
    const { lane, token } = await openLane(journal, 5);
    const request = sampleRequest(lane);
    const attempts = [sampleAttempt(), sampleAttempt()];
    const blockHash = sampleHash();
    let jobId = '';
    let stepIndex = 0;

    const make: Record<string, () => Promise<unknown>> = {
      submit: async () => {
        const result = await journal.submit(request);
        jobId = 'jobId' in result ? result.jobId : '';
        return result;
      },
      plan: () => planSample(journal, write(), ['approve', 'swap']),
      reserve: () => journal.reserve({ ...write(), maxInFlight: 9 }),
      sign: () =>
        journal.putAttempt({ ...write(), expectedAttempts: 0, nonce: 5 + stepIndex, attempt: attempts[stepIndex]! }),
      broadcast: () => journal.markBroadcast({ ...write(), hash: attempts[stepIndex]!.hash }),
      mine: () =>
        journal.markMined({ ...write(), mined: { hash: attempts[stepIndex]!.hash, blockNumber: 1, blockHash } }),
      finish: () => journal.finishStep({ ...write(), blockHash }),
    };
    function write() {
      return { jobId, stepIndex, token };
    }

    for (const [index, call] of CALLS.entries()) {
      await make[call]!();
      if (index === crashAfter) {
        const [job, events] = [await journal.readJob(jobId), await journal.outbox.read(lane, { after: 0 })];
        await restart(server);
        expect(await journal.readJob(jobId)).toEqual(job);
        expect(await journal.outbox.read(lane, { after: 0 })).toEqual(events);
        await journal.open();
        const { run } = await journal.readLane(lane);
        const reading = { pendingNonce: 5, blockNumber: 1, run: run! };
        const thawed = await journal.thaw(lane, reading, { nonceDoubtBlocks: 5, nonceDoubtMs: 60_000 });
        expect(thawed).toEqual({ outcome: 'done' });
        // The reply may have been lost with the server: repeating the call changes nothing.
        await make[call]!();
        expect({ ...(await journal.readJob(jobId)), updatedAtMs: 0 }).toEqual({ ...job, updatedAtMs: 0 });
        expect(await journal.outbox.read(lane, { after: 0 })).toEqual(events);
      }
      if (call === 'finish') stepIndex += 1;
    }
    expect(await journal.readJob(jobId)).toMatchObject({
      state: 'FINAL',
      steps: [{ nonce: 5 }, { nonce: 6 }],
    });
    expect(await journal.readLane(lane)).toMatchObject({ nextNonce: 7, openJobs: 0 });
    const events = await journal.outbox.read(lane, { after: 0 });
    expect(events).toHaveLength(5);
    expect(events.filter(({ state }) => isFinal(state))).toHaveLength(1);
  });

  it('loses nothing acknowledged while many workers write', async () => {
    const { lane, token } = await openLane(journal);
    const known = new Map<string, { nonce: number | null }>();
    let isDead = false;
    const work = async (): Promise<void> => {
      for (let index = 0; index < 15; index++) {
        const result = await journal.submit(sampleRequest(lane));
        if (!('jobId' in result)) throw new Error(result.outcome);
        known.set(result.jobId, { nonce: null });
        const step = { jobId: result.jobId, stepIndex: 0, token };
        await planSample(journal, step);
        const reserved = await journal.reserve({ ...step, maxInFlight: 999 });
        if ('nonce' in reserved) known.set(result.jobId, { nonce: reserved.nonce });
        if (known.size >= 60 && !isDead) {
          isDead = true;
          await server.kill();
        }
      }
    };
    const running = Promise.all(Array.from({ length: 8 }, work));
    await server.exited();
    await server.start();
    await running;
    const nonces = new Set<number>();
    for (const [jobId, { nonce }] of known) {
      const job = await journal.readJob(jobId);
      if (nonce !== null) expect(job!.steps[0]!.nonce).toBe(nonce);
      if (job!.steps[0]!.nonce !== null) nonces.add(job!.steps[0]!.nonce);
    }
    expect(known.size).toBe(120);
    expect((await journal.readLane(lane)).nextNonce).toBe(nonces.size);
  });
});
