import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { urlOf } from '../../../../test/harness/stack/borrow-redis.js';
import {
  FAILURE,
  finishSample,
  mineSample,
  planSample,
  sampleAttempt,
  sampleHash,
  sampleLane,
  sampleRequest,
  submitSample,
} from '../../test/sample-jobs.js';
import { useJournal } from '../../test/start-journal.js';
import type { LaneId } from '../jobs/job.js';
import { laneKey } from '../jobs/keys.js';
import type { StepWrite } from '../jobs/transition.js';
import { WALLET_IS_EMPTY } from '../steps/wait-reasons.js';
import { Journal } from '../store/journal.js';
import { holdLane } from './lane-lease.js';

describe('a lane', () => {
  const { redis, journal } = useJournal();
  let lane: LaneId;

  beforeEach(async () => {
    lane = sampleLane();
    await journal.adopt(lane, { pendingNonce: 3 });
  });

  const expireLease = () => redis.hset(laneKey(lane), 'leaseUntil', '0');

  describe('its lease', () => {
    it('is held by one owner, and gets a higher token when it was not renewed', async () => {
      const first = (await journal.takeLease(lane, 'a', 60_000))!;
      expect(await journal.takeLease(lane, 'b', 60_000)).toBeNull();
      expect(await journal.takeLease(lane, 'a', 60_000)).toMatchObject({ token: first.token });
      expect(await journal.renewLease(first, 60_000)).toMatchObject({ token: first.token });
      await expireLease();
      const second = (await journal.takeLease(lane, 'b', 60_000))!;
      expect(second.token).toBe(first.token + 1);
      expect(await journal.renewLease(first, 60_000)).toBeNull();
      await journal.releaseLease(first);
      expect((await journal.readLane(lane)).lease).toMatchObject({ owner: 'b', token: second.token });
      await journal.releaseLease(second);
      expect((await journal.readLane(lane)).lease).toBeNull();
      expect(await journal.takeLease(lane, 'a', 60_000)).toMatchObject({ token: second.token + 1 });
    });

    it('goes to one of many concurrent callers', async () => {
      const owners = Array.from({ length: 20 }, (_, index) => `worker-${index}`);
      const leases = await Promise.all(owners.map((owner) => journal.takeLease(lane, owner, 60_000)));
      expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
    });

    it('refuses the writes of an expired holder, and accepts the same ones from its successor', async () => {
      const zombie = (await journal.takeLease(lane, 'a', 60_000))!;
      const write = await submitSample(journal, lane, zombie.token);
      await planSample(journal, write);
      await journal.reserve({ ...write, maxInFlight: 9 });
      await expireLease();
      const successor = (await journal.takeLease(lane, 'b', 60_000))!;
      const put = (token: number, attempt = sampleAttempt()) =>
        journal.putAttempt({ ...write, token, expectedAttempts: 0, nonce: 3, attempt });
      expect(await put(zombie.token)).toMatchObject({ reason: 'stale_token' });
      const attempt = sampleAttempt();
      expect(await put(successor.token, attempt)).toMatchObject({ outcome: 'done' });
      expect(await put(zombie.token, attempt)).toMatchObject({ reason: 'stale_token' });
      expect((await journal.readJob(write.jobId))!.steps[0]!.attempts).toMatchObject([{ hash: attempt.hash }]);
    });

    it('is renewed while it is held, and its loss is reported once', async () => {
      const lost: LaneId[] = [];
      // A process that is delayed for two thirds of this time loses its lease.
      const leaseMs = 6000;
      const held = (await holdLane(journal, lane, { owner: 'a', leaseMs, onLost: (one) => lost.push(one) }))!;
      expect(await holdLane(journal, lane, { owner: 'b', leaseMs, onLost: () => undefined })).toBeNull();
      const untilMs = (await journal.readLane(lane)).lease!.untilMs;
      while ((await journal.readLane(lane)).lease!.untilMs === untilMs) await sleep(5);
      await redis.hset(laneKey(lane), 'leaseOwner', 'b', 'leaseToken', '99');
      while (lost.length === 0) await sleep(5);
      expect(lost).toEqual([lane]);
      await held.release();
      expect((await journal.readLane(lane)).lease).toMatchObject({ owner: 'b', token: 99 });
    });

    it('is over if it was taken by a clock that was ahead', async () => {
      const ahead = (await journal.takeLease(lane, 'a', 60_000))!;
      await redis.hincrby(laneKey(lane), 'leaseUntil', 3_600_000);
      expect(await journal.takeLease(lane, 'b', 60_000)).toMatchObject({ token: ahead.token + 1 });
      expect(await journal.renewLease(ahead, 60_000)).toBeNull();
    });

    it('is free when its holder releases it', async () => {
      const held = await holdLane(journal, lane, { owner: 'a', leaseMs: 60_000, onLost: () => undefined });
      await held!.release();
      expect(await journal.takeLease(lane, 'b', 60_000)).not.toBeNull();
    });
  });

  describe('two workers that race', () => {
    let token: number;

    beforeEach(async () => {
      token = (await journal.takeLease(lane, 'both', 600_000))!.token;
    });

    it('get one nonce for a step, and different nonces for two steps', async () => {
      const writes: StepWrite[] = [];
      for (let index = 0; index < 10; index++) {
        const write = await submitSample(journal, lane, token);
        await planSample(journal, write);
        writes.push(write);
      }
      const racing = [...writes, ...writes, ...writes].map((write) => journal.reserve({ ...write, maxInFlight: 99 }));
      const nonces = (await Promise.all(racing)).map((result) => ('nonce' in result ? result.nonce : null));
      expect(nonces.slice(10, 20)).toEqual(nonces.slice(0, 10));
      expect(nonces.slice(20)).toEqual(nonces.slice(0, 10));
      expect(nonces.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, index) => 3 + index));
      expect((await journal.readLane(lane)).nextNonce).toBe(13);
    });

    it('store one attempt, which both can read', async () => {
      const write = await submitSample(journal, lane, token);
      await planSample(journal, write);
      await journal.reserve({ ...write, maxInFlight: 9 });
      for (const expectedAttempts of [0, 1, 2]) {
        const kind = expectedAttempts === 0 ? 'first' : 'replacement';
        const outcomes = await Promise.all(
          Array.from({ length: 8 }, () =>
            journal.putAttempt({ ...write, expectedAttempts, nonce: 3, attempt: sampleAttempt(kind) }),
          ),
        );
        expect(outcomes.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
        expect(outcomes.filter((one) => 'reason' in one && one.reason === 'lost_race')).toHaveLength(7);
        expect((await journal.readJob(write.jobId))!.steps[0]!.attempts).toHaveLength(expectedAttempts + 1);
      }
    });

    it('have no more steps in flight than the limit', async () => {
      const writes = [];
      for (let index = 0; index < 5; index++) {
        const write = await submitSample(journal, lane, token);
        await planSample(journal, write);
        writes.push(write);
      }
      const results = await Promise.all(writes.map((write) => journal.reserve({ ...write, maxInFlight: 3 })));
      expect(results.filter(({ outcome }) => outcome === 'done')).toHaveLength(3);
      expect(results.filter((one) => 'reason' in one && one.reason === 'lane_full')).toHaveLength(2);
      await mineSample(journal, writes[0]!);
      expect(await journal.reserve({ ...writes[3]!, maxInFlight: 3 })).toMatchObject({ outcome: 'done', nonce: 6 });
    });
  });

  it('pauses: steps with a nonce continue, and no new nonce is given out', async () => {
    const { token } = (await journal.takeLease(lane, 'a', 600_000))!;
    const [begun, waiting] = [await submitSample(journal, lane, token), await submitSample(journal, lane, token)];
    await planSample(journal, begun);
    await planSample(journal, waiting);
    await journal.reserve({ ...begun, maxInFlight: 9 });
    expect(await journal.pauseLane(lane, FAILURE)).toEqual({ outcome: 'done' });
    expect(await journal.pauseLane(lane, { ...FAILURE, code: 'LATER' })).toEqual({ outcome: 'unchanged' });
    expect((await journal.readLane(lane)).paused).toEqual(FAILURE);
    expect(await journal.reserve({ ...waiting, maxInFlight: 9 })).toMatchObject({ reason: 'lane_paused' });
    await mineSample(journal, begun);
    expect(await journal.resumeLane(lane)).toEqual({ outcome: 'done' });
    expect(await journal.resumeLane(lane)).toEqual({ outcome: 'unchanged' });
    expect(await journal.reserve({ ...waiting, maxInFlight: 9 })).toMatchObject({ nonce: 4 });
  });

  it('keeps the reason of an operator, not that of an empty wallet, and a worker ends only its own pause', async () => {
    const { code } = WALLET_IS_EMPTY;
    expect(await journal.pauseLane(lane, WALLET_IS_EMPTY)).toEqual({ outcome: 'done' });
    expect(await journal.pauseLane(lane, WALLET_IS_EMPTY)).toEqual({ outcome: 'unchanged' });
    expect(await journal.pauseLane(lane, FAILURE)).toEqual({ outcome: 'done' });
    expect(await journal.pauseLane(lane, WALLET_IS_EMPTY)).toEqual({ outcome: 'unchanged' });
    expect(await journal.resumeLane(lane, { code })).toEqual({ outcome: 'unchanged' });
    expect((await journal.readLane(lane)).paused).toEqual(FAILURE);
    expect(await journal.resumeLane(lane)).toEqual({ outcome: 'done' });
    await journal.pauseLane(lane, WALLET_IS_EMPTY);
    expect(await journal.resumeLane(lane, { code })).toEqual({ outcome: 'done' });
    expect((await journal.readLane(lane)).paused).toBeNull();
  });

  it('accepts no job and gives out no nonce before it is adopted, and is not adopted twice', async () => {
    const stranger = sampleLane();
    expect(await journal.submit(sampleRequest(stranger))).toEqual({ outcome: 'refused', reason: 'not_adopted' });
    for (const call of [journal.pauseLane(stranger, FAILURE), journal.resumeLane(stranger)]) {
      expect(await call).toEqual({ outcome: 'refused', reason: 'not_adopted' });
    }
    expect(
      await journal.thaw(
        stranger,
        { pendingNonce: 0, blockNumber: 1, run: 'x' },
        { nonceDoubtBlocks: 5, nonceDoubtMs: 60_000 },
      ),
    ).toMatchObject({
      reason: 'not_adopted',
    });
    expect(await journal.adopt(lane, { pendingNonce: 9 })).toEqual({ outcome: 'refused', reason: 'already_adopted' });
    expect((await journal.readLane(lane)).nextNonce).toBe(3);
    expect(await journal.readLanes()).toEqual(expect.arrayContaining([lane]));
    for (const pendingNonce of [-1, 1.5, Number.NaN]) {
      await expect(journal.adopt(stranger, { pendingNonce })).rejects.toThrow(TypeError);
    }
  });

  it("moves up to the chain's nonce when it is adopted again during a pause, and never back", async () => {
    await journal.pauseLane(lane, FAILURE);
    expect(await journal.adopt(lane, { pendingNonce: 9 })).toEqual({ outcome: 'done' });
    expect(await journal.adopt(lane, { pendingNonce: 1 })).toEqual({ outcome: 'done' });
    expect(await journal.readLane(lane)).toMatchObject({ nextNonce: 9, paused: FAILURE });
  });

  it('has the same journal in another process', async () => {
    const other = new Redis(urlOf(redis));
    await once(other, 'ready');
    const elsewhere = new Journal({ redis: other });
    const { token } = (await journal.takeLease(lane, 'a', 600_000))!;
    const write = await submitSample(journal, lane, token);
    expect(await elsewhere.readJob(write.jobId)).toMatchObject({ id: write.jobId });
    await finishSample(elsewhere, write);
    expect(await journal.readJob(write.jobId)).toMatchObject({ state: 'FINAL' });
    other.disconnect();
  });

  it('notices a lease that changes between two transitions of one request', async () => {
    const lease = (await journal.takeLease(lane, 'a', 600_000))!;
    const { jobId, token } = await submitSample(journal, lane, lease.token);
    const put = (name: string) => journal.putDetail({ jobId, token, name, value: name });
    const [before, , taken, after] = await Promise.all([
      put('before'),
      journal.releaseLease(lease),
      journal.takeLease(lane, 'b', 600_000),
      put('after'),
    ]);
    expect([before, taken?.token, after]).toEqual(['before', token + 1, null]);
    expect((await journal.readJob(jobId))!.details).toEqual({ before: 'before' });
  });

  it('parks a job for an operator, who resumes it in its earlier state', async () => {
    const { token } = (await journal.takeLease(lane, 'a', 600_000))!;
    const write = await submitSample(journal, lane, token);
    await planSample(journal, write);
    await mineSample(journal, write);
    await journal.unmine({ ...write, blockHash: (await journal.readJob(write.jobId))!.steps[0]!.mined!.blockHash });
    await journal.needOperator({ ...write, failure: FAILURE });
    expect(await journal.readInFlight(lane)).toEqual([]);
    expect(await journal.readJob(write.jobId)).toMatchObject({ state: 'NEEDS_OPERATOR', failure: FAILURE });
    await journal.resumeJob(write.jobId);
    expect(await journal.readJob(write.jobId)).toMatchObject({ state: 'BROADCAST', failure: null });
    expect(await journal.readInFlight(lane)).toEqual([{ jobId: write.jobId, stepIndex: 0, nonce: 3 }]);
    expect(await journal.readLane(lane)).toMatchObject({ unminedSteps: 1, openJobs: 1 });
    const { hash } = (await journal.readJob(write.jobId))!.steps[0]!.attempts[0]!;
    const blockHash = sampleHash();
    await journal.markMined({ ...write, mined: { hash, blockNumber: 1, blockHash } });
    expect(await journal.finishStep({ ...write, blockHash })).toMatchObject({ state: 'FINAL' });
  });
});
