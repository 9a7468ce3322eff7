import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { StoreUnavailableError } from '@tollgate/redis';

import { waitFor } from '../../../../test/harness/retry.js';
import { restart, useOwnRedis } from '../../../../test/harness/stack/own-redis.js';
import type { RedisOptions } from '../../../../tools/devnet/processes/redis.js';
import { copyData } from '../../test/copy-data.js';
import {
  FAILURE,
  finishSample,
  mineSample,
  planSample,
  sampleLane,
  sampleRequest,
  sampleStep,
  submitSample,
} from '../../test/sample-jobs.js';
import { openLane } from '../../test/start-journal.js';
import type { LaneId } from '../jobs/job.js';
import { hashIdempotencyKey, idempotencyKey, laneKey } from '../jobs/keys.js';
import type { BetweenReadings, StepWrite } from '../jobs/transition.js';
import { Journal } from './journal.js';

const IN_DOUBT = { state: 'NEEDS_OPERATOR', failure: { code: 'JOURNAL_LOST_WRITES' } };

/** After a restart that kept all writes, one reading is enough. */
const APART = { nonceDoubtBlocks: 5, nonceDoubtMs: 60_000 };

describe('a Redis that may have lost writes', () => {
  const { serve, connectTo, cleanUp } = useOwnRedis();

  const openJournal = async (url: string) => {
    const redis = connectTo(url);
    const journal = new Journal({ redis, timeoutMs: 10_000 });
    await journal.open();
    return { redis, journal };
  };

  const start = async (options: RedisOptions = {}) => {
    const server = await serve(options);
    const { redis, journal } = await openJournal(server.url);
    return { server, redis, journal, ...(await openLane(journal)) };
  };

  const plannedJob = async (journal: Journal, lane: LaneId, token: number): Promise<StepWrite> => {
    const write = await submitSample(journal, lane, token);
    await planSample(journal, write);
    return write;
  };

  const reserve = (journal: Journal, write: StepWrite) => journal.reserve({ ...write, maxInFlight: 99 });

  const thaw = async (journal: Journal, lane: LaneId, pendingNonce: number) =>
    journal.thaw(lane, { pendingNonce, blockNumber: 1, run: (await journal.readLane(lane)).run! }, APART);

  it('gives out no nonce after a restart until the chain was read', async () => {
    const { server, journal, lane, token } = await start();
    const [begun, waiting] = [await plannedJob(journal, lane, token), await plannedJob(journal, lane, token)];
    await reserve(journal, begun);
    await restart(server);
    for (const write of [begun, waiting]) {
      expect(await reserve(journal, write)).toMatchObject({ outcome: 'refused', reason: 'lane_frozen' });
    }
    expect(await journal.readLane(lane)).toMatchObject({ frozen: 'restarted', nextNonce: 1 });
    // Jobs are still accepted; they wait.
    expect(await journal.submit(sampleRequest(lane))).toMatchObject({ outcome: 'accepted' });
    expect(await thaw(journal, lane, 1)).toEqual({ outcome: 'done' });
    expect(await thaw(journal, lane, 1)).toEqual({ outcome: 'unchanged' });
    expect(await reserve(journal, begun)).toMatchObject({ outcome: 'unchanged', nonce: 0 });
    expect(await reserve(journal, waiting)).toMatchObject({ outcome: 'done', nonce: 1 });
  });

  it('freezes every lane as soon as a process opens the journal', async () => {
    const { server, redis, lane } = await start({ appendfsync: 'everysec' });
    await redis.bgrewriteaof();
    while ((await redis.info('persistence')).includes('aof_rewrite_in_progress:1')) await sleep(20);
    while (!(await redis.info('persistence')).includes('aof_last_bgrewrite_status:ok')) await sleep(20);
    await restart(server);
    const { journal: next } = await openJournal(server.url);
    // Acknowledged writes may be gone: `lost`, as opposed to a restart that keeps all of them.
    expect((await next.readLane(lane)).frozen).toBe('lost');
  });

  it('compares a lane that lost writes twice with the chain, some blocks and some time apart', async () => {
    const { server, redis, journal, lane, token } = await start({ appendfsync: 'everysec' });
    const waiting = await plannedJob(journal, lane, token);
    const rewriteAndRestart = async () => {
      await redis.bgrewriteaof();
      await waitFor('its file', async () => /aof_rewrite_in_progress:0/.test(await redis.info('persistence')));
      await restart(server);
      await journal.open();
    };
    const look = async (blockNumber: number, settings: Partial<BetweenReadings> = {}) => {
      const reading = { pendingNonce: 0, blockNumber, run: (await journal.readLane(lane)).run! };
      return journal.thaw(lane, reading, { nonceDoubtBlocks: 5, nonceDoubtMs: 0, ...settings });
    };
    const tooEarly = { outcome: 'refused', reason: 'too_early' };
    await rewriteAndRestart();
    // The same block twice: an RPC server may hang.
    expect([await look(10), await look(10), await look(14)]).toEqual([tooEarly, tooEarly, tooEarly]);
    expect(await look(15, { nonceDoubtMs: 600_000 })).toEqual(tooEarly);
    expect(await reserve(journal, waiting)).toMatchObject({ reason: 'lane_frozen' });
    // What was read before another restart counts for nothing.
    await rewriteAndRestart();
    expect(await look(15)).toEqual(tooEarly);
    expect(await look(20)).toEqual({ outcome: 'done' });
    expect(await reserve(journal, waiting)).toMatchObject({ outcome: 'done', nonce: 0 });
  });

  it('freezes a lane that has nothing to send, even if another fleet noticed the restart first', async () => {
    const { server, redis, journal, lane, lease } = await start();
    const other = new Journal({ redis, fleet: 'others' });
    await restart(server);
    await other.open();
    expect((await journal.readLane(lane)).frozen).toBeNull();
    expect(await journal.renewLease(lease, 600_000)).toMatchObject({ token: lease.token });
    expect((await journal.readLane(lane)).frozen).toBe('restarted');
  });

  it('never starts from zero: after its data is deleted, the journal has no lane until one is adopted again', async () => {
    const { redis, journal, lane, token } = await start();
    const write = await plannedJob(journal, lane, token);
    await reserve(journal, write);
    await redis.flushall();
    expect(await reserve(journal, write)).toMatchObject({ outcome: 'refused', reason: 'not_found' });
    expect(await journal.submit(sampleRequest(lane))).toEqual({ outcome: 'refused', reason: 'not_adopted' });
    expect((await journal.readLane(lane)).nextNonce).toBeNull();
    expect(await journal.adopt(lane, { pendingNonce: 1 })).toEqual({ outcome: 'done' });
    const { token: next } = (await journal.takeLease(lane, 'worker', 600_000))!;
    expect(await reserve(journal, await plannedJob(journal, lane, next))).toMatchObject({ nonce: 1 });
  });

  it('sends nothing a second time after an old data file was restored', async () => {
    const { server, redis, journal, lane, token } = await start();
    const [sent, reserved] = [await plannedJob(journal, lane, token), await plannedJob(journal, lane, token)];
    await reserve(journal, reserved);
    const copy = mkdtempSync(join(tmpdir(), 'tollgate-journal-'));
    cleanUp(() => rmSync(copy, { recursive: true, force: true }));
    cpSync(server.dir, copy, { recursive: true });
    // What the old file does not contain: a job that ended, with its transaction mined.
    const blockNonce = 2;
    await finishSample(journal, sent);
    expect(await journal.readJob(sent.jobId)).toMatchObject({ state: 'FINAL' });
    redis.disconnect();
    await server.kill();
    const old = await serve({ dir: copy });
    const { journal: restored } = await openJournal(old.url);

    expect(await restored.readJob(sent.jobId)).toMatchObject({ state: 'PLANNED' });
    expect(await reserve(restored, sent)).toMatchObject({ reason: 'lane_frozen' });
    expect(await thaw(restored, lane, blockNonce)).toEqual({ outcome: 'refused', reason: 'chain_ahead' });
    expect(await reserve(restored, sent)).toMatchObject({ reason: 'lane_frozen' });
    expect(await restored.readLane(lane)).toMatchObject({ frozen: 'chain_ahead', nextNonce: 1 });

    // The operator adopts the lane at the chain's nonce: jobs that may have been sent wait for the operator.
    expect(await restored.adopt(lane, { pendingNonce: blockNonce })).toEqual({ outcome: 'done' });
    expect(await restored.readJob(sent.jobId)).toMatchObject(IN_DOUBT);
    expect((await restored.outbox.read(lane, { after: 0 })).at(-1)).toMatchObject({
      type: 'jobNeedsOperator',
      jobId: sent.jobId,
    });
    expect(await reserve(restored, reserved)).toMatchObject({ outcome: 'unchanged', nonce: 0 });
    expect(await restored.readOpenJobs(lane)).toEqual([reserved.jobId]);
    expect(await reserve(restored, await plannedJob(restored, lane, token))).toMatchObject({ nonce: 2 });
    expect(await restored.abandonJob({ jobId: sent.jobId, minedNonce: 2, failure: FAILURE })).toMatchObject({
      state: 'CANCELLED',
    });
  });

  it('ends no job that may have been sent before the chain was read', async () => {
    const { server, journal, lane, token } = await start();
    const planned = await plannedJob(journal, lane, token);
    const awaiting = await submitSample(journal, lane, token);
    const plan = { steps: [sampleStep()], plan: {}, floorsHash: 'f', needsApproval: true };
    await journal.putPlan({ ...awaiting, ...plan });
    await restart(server);
    const failed = { failure: FAILURE, undo: [], givesBackSpending: true };
    const ends = [
      // Nothing has noticed the restart before.
      () => journal.cancel(planned.jobId),
      () => journal.failPlan({ ...planned, ...failed }),
      () => journal.cancel(awaiting.jobId),
      () => journal.reject({ jobId: awaiting.jobId, failure: FAILURE }),
      () => journal.expireApproval({ ...awaiting, waitedMs: 0, failure: FAILURE }),
    ];
    for (const end of ends) expect(await end()).toMatchObject({ outcome: 'refused', reason: 'lane_frozen' });
    expect(await thaw(journal, lane, 1)).toEqual({ outcome: 'refused', reason: 'chain_ahead' });
    for (const end of ends) expect(await end()).toMatchObject({ outcome: 'refused', reason: 'lane_frozen' });
    await journal.adopt(lane, { pendingNonce: 1 });
    for (const { jobId } of [planned, awaiting]) {
      expect(await journal.readJob(jobId)).toMatchObject(IN_DOUBT);
      expect(await journal.cancel(jobId)).toMatchObject({ outcome: 'refused', reason: 'wrong_state' });
    }
  });

  it('ends jobs as before once the chain has none that it lost', async () => {
    const { server, journal, lane, token } = await start();
    const { jobId } = await plannedJob(journal, lane, token);
    await restart(server);
    expect(await journal.cancel(jobId)).toMatchObject({ reason: 'lane_frozen' });
    await thaw(journal, lane, 0);
    expect(await journal.cancel(jobId)).toEqual({ outcome: 'done', state: 'CANCELLED' });
  });

  it('puts jobs in doubt that waited for an operator already', async () => {
    const { server, journal, lane, token } = await start();
    const [unsent, flying] = [await plannedJob(journal, lane, token), await submitSample(journal, lane, token)];
    await planSample(journal, flying, ['enter the market', 'borrow']);
    const blockHash = await mineSample(journal, flying);
    for (const write of [unsent, flying]) await journal.needOperator({ ...write, failure: FAILURE });
    await restart(server);
    await journal.open();
    // The chain has what followed their resumption, which Redis lost.
    await journal.adopt(lane, { pendingNonce: 3 });
    expect(await journal.readJob(unsent.jobId)).toMatchObject(IN_DOUBT);
    await journal.resumeJob(flying.jobId);
    expect(await journal.finishStep({ ...flying, blockHash })).toMatchObject({ state: 'NEEDS_OPERATOR' });
    expect(await journal.readJob(flying.jobId)).toMatchObject(IN_DOUBT);
  });

  it('begins no further step of a job in flight that the chain may have already', async () => {
    const { server, journal, lane, token } = await start();
    const write = await submitSample(journal, lane, token);
    await planSample(journal, write, ['approve', 'swap']);
    const blockHash = await mineSample(journal, write);
    // The chain also has the swap, whose nonce was lost.
    await restart(server);
    await journal.open();
    expect(await thaw(journal, lane, 2)).toMatchObject({ reason: 'chain_ahead' });
    expect(await journal.adopt(lane, { pendingNonce: 2 })).toEqual({ outcome: 'done' });
    expect(await journal.finishStep({ ...write, blockHash })).toMatchObject({ state: 'NEEDS_OPERATOR' });
    expect(await journal.readJob(write.jobId)).toMatchObject({ ...IN_DOUBT, stepIndex: 1 });
    const next = { ...write, stepIndex: 1 };
    expect(await reserve(journal, next)).toMatchObject({ outcome: 'refused', reason: 'wrong_state' });
    expect(await journal.resumeJob(write.jobId)).toMatchObject({ state: 'PLANNED' });
    expect(await reserve(journal, next)).toMatchObject({ outcome: 'done', nonce: 2 });
  });

  // Prevents: an RPC server that is behind the one that was asked first ends the freeze, and what was sent is sent again.
  it('thaws no lane that the chain was ahead of, and parks its jobs in doubt whatever the next reading says', async () => {
    const { server, journal, lane, token } = await start();
    const { jobId } = await plannedJob(journal, lane, token);
    await restart(server);
    await journal.open();
    const ahead = { outcome: 'refused', reason: 'chain_ahead' };
    expect([await thaw(journal, lane, 1), await thaw(journal, lane, 0)]).toEqual([ahead, ahead]);
    expect(await journal.readLane(lane)).toMatchObject({ frozen: 'chain_ahead', nextNonce: 0 });
    expect(await journal.adopt(lane, { pendingNonce: 0 })).toEqual({ outcome: 'done' });
    expect(await journal.readLane(lane)).toMatchObject({ frozen: null, nextNonce: 0 });
    expect(await journal.readJob(jobId)).toMatchObject(IN_DOUBT);
  });

  // Prevents: its submitter repeats the request, and it is sent a second time.
  it('accepts no lost job again under a key that was not lost, once the chain was ahead', async () => {
    const { server, redis, journal, lane, token } = await start();
    const putBack = copyData(server);
    const [sent, late] = [sampleRequest(lane), sampleRequest(lane)];
    await finishSample(journal, await submitSample(journal, lane, token, sent));
    // In a cluster the key belongs to another server, which has lost nothing.
    const key = idempotencyKey(hashIdempotencyKey(sent.keyId, sent.idempotencyKey));
    const claim = (await redis.get(key))!;
    await putBack();
    await redis.set(key, claim);
    await journal.open();
    expect(await thaw(journal, lane, 1)).toMatchObject({ reason: 'chain_ahead' });
    await journal.adopt(lane, { pendingNonce: 1 });
    expect(await journal.submit(sent)).toEqual({ outcome: 'forgotten' });
    expect(await journal.submit(late)).toMatchObject({ outcome: 'accepted' });
  });

  // Prevents: as above, where nothing of the lane is left.
  it('accepts no lost job again under a key that was not lost, once its lost lane was adopted', async () => {
    const { redis, journal, lane, token } = await start();
    const [sent, waiting] = [sampleRequest(lane), sampleRequest(lane)];
    await finishSample(journal, await submitSample(journal, lane, token, sent));
    await redis.del(await redis.keys(laneKey(lane).replace(/lane$/, '*')));
    const unadopted = { outcome: 'refused', reason: 'not_adopted' };
    expect([await journal.submit(sent), await journal.submit(waiting)]).toEqual([unadopted, unadopted]);
    await journal.adopt(lane, { pendingNonce: 1 });
    expect(await journal.submit(sent)).toEqual({ outcome: 'forgotten' });
    // Nothing was made of it, as its first answer said.
    expect(await journal.submit(waiting)).toMatchObject({ outcome: 'accepted' });
  });

  it('refuses a chain reading from before another restart', async () => {
    const { server, journal, lane } = await start();
    const before = (await journal.readLane(lane)).run!;
    await restart(server);
    await journal.open();
    expect(await journal.thaw(lane, { pendingNonce: 0, blockNumber: 1, run: before }, APART)).toEqual({
      outcome: 'refused',
      reason: 'lane_frozen',
    });
    expect(await thaw(journal, lane, 0)).toEqual({ outcome: 'done' });
  });

  it('notices a promotion even if the server still has the scripts', async () => {
    const { redis, journal, lane, token } = await start();
    const write = await plannedJob(journal, lane, token);
    await redis.replicaof('127.0.0.1', '1');
    await redis.replicaof('NO', 'ONE');
    expect(await reserve(journal, write)).toMatchObject({ reason: 'lane_frozen' });
    expect((await journal.readLane(lane)).frozen).toBe('lost');
  });

  it('counts a promotion as a loss unless the writes before it had to be acknowledged, too', async () => {
    const { redis, journal, lane: kept } = await start();
    const strict = new Journal({ redis, timeoutMs: 10_000, durability: { replicas: 1, timeoutMs: 1_000 } });
    await strict.open();
    const { lane: lost } = await openLane(journal);
    await redis.replicaof('127.0.0.1', '1');
    await redis.replicaof('NO', 'ONE');
    await strict.open();
    expect((await journal.readLane(kept)).frozen).toBe('restarted');
    expect((await journal.readLane(lost)).frozen).toBe('lost');
  });

  it('is not frozen when only the scripts were lost, or when the server gets its first replica', async () => {
    const { server, redis, journal, lane, token } = await start({ args: ['--repl-diskless-sync-delay', '0'] });
    await redis.script('FLUSH');
    expect(await reserve(journal, await plannedJob(journal, lane, token))).toMatchObject({ nonce: 0 });
    const known = (await journal.readLane(lane)).run;
    const replica = await serve({ args: ['--replicaof', '127.0.0.1', String(server.port)] });
    while (!(await redis.info('replication')).includes('connected_slaves:1')) await sleep(20);
    expect(await reserve(journal, await plannedJob(journal, lane, token))).toMatchObject({ nonce: 1 });
    expect((await journal.readLane(lane)).run).not.toBe(known);
    await replica.kill();
  });

  it.each(['allkeys-lru', 'volatile-ttl'])('is refused if it evicts keys (%s)', async (policy) => {
    const server = await serve({ args: ['--maxmemory', '64mb', '--maxmemory-policy', policy] });
    const [redis, lane] = [connectTo(server.url), sampleLane()];
    const journal = new Journal({ redis });
    await redis.hset(laneKey(lane), 'nextNonce', 0);
    await expect(journal.open()).rejects.toMatchObject({ code: 'redis_evicts' });
    await expect(journal.submit(sampleRequest(lane))).rejects.toMatchObject({ code: 'redis_evicts' });
  });

  it('is reported as unavailable while it hangs or has no memory, and makes no partial transition', async () => {
    const { server, redis, journal, lane, token } = await start();
    const write = await plannedJob(journal, lane, token);
    await redis.config('SET', 'maxmemory', '1mb');
    await expect(reserve(journal, write)).rejects.toThrow(StoreUnavailableError);
    await redis.config('SET', 'maxmemory', '0');
    expect(await journal.readLane(lane)).toMatchObject({ nextNonce: 0, unminedSteps: 0 });
    server.signal('SIGSTOP');
    const hasty = new Journal({ redis, timeoutMs: 300 });
    await expect(hasty.readJob(write.jobId)).rejects.toThrow(StoreUnavailableError);
    server.signal('SIGCONT');
    while ((await redis.ping()) !== 'PONG');
    expect(await reserve(journal, write)).toMatchObject({ nonce: 0 });
  });
});
