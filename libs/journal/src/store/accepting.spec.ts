import { waitFor } from '../../../../test/harness/retry.js';
import { FAILURE, finishSample, sampleLane, sampleRequest, spoilJob, submitSample } from '../../test/sample-jobs.js';
import { openLane, useJournal, type OpenLane } from '../../test/start-journal.js';
import type { JobRecord, LaneId } from '../jobs/job.js';
import { createJobId, hashIdempotencyKey, idempotencyKey, jobKey, jobsKey, laneKey } from '../jobs/keys.js';
import type { JobPage, ListJobsRequest } from '../jobs/transition.js';
import { Journal } from './journal.js';

describe('accepting, listing and deleting jobs', () => {
  const { redis, journal } = useJournal();
  let { lane, token } = {} as OpenLane;

  beforeEach(async () => {
    ({ lane, token } = await openLane(journal));
  });

  const adopt = async (): Promise<LaneId> => {
    const created = sampleLane();
    await journal.adopt(created, { pendingNonce: 0 });
    return created;
  };

  describe('a job with an id from its submitter', () => {
    const request = () => ({
      lane,
      jobId: createJobId(lane),
      operation: 'transfer',
      input: { amount: '1' },
      wallet: 'main',
      keyId: 'key-1',
    });

    it('is one job, however often it is submitted, and keeps the first content', async () => {
      const named = request();
      expect(await journal.submitNamed(named)).toEqual({ outcome: 'accepted', jobId: named.jobId, state: 'PLANNED' });
      expect(await journal.submitNamed({ ...named, input: { amount: '2' } })).toMatchObject({ outcome: 'known' });
      expect(await journal.readJob(named.jobId)).toMatchObject({ input: { amount: '1' }, state: 'PLANNED' });
      expect(await journal.readOpenJobs(lane)).toEqual([named.jobId]);
    });

    // Prevents: of two jobs that are accepted within a millisecond, the later one is carried out first.
    it('comes after every job that was accepted before it', async () => {
      const named = Array.from({ length: 20 }, request);
      await Promise.all(named.map((one) => journal.submitNamed(one)));
      expect(await journal.readOpenJobs(lane)).toEqual(named.map(({ jobId }) => jobId));
    });

    // Prevents: a resumed job is carried out before one that was accepted in the same millisecond, and earlier.
    it('has its place again when it is resumed', async () => {
      const [first, second, third] = [request(), request(), request()];
      await journal.submitNamed(first);
      // The places are ahead of the clock, as after many jobs of a millisecond.
      await redis.zadd(jobsKey(lane), Date.now() + 60_000, first.jobId);
      for (const next of [second, third]) await journal.submitNamed(next);
      await journal.needOperator({ jobId: third.jobId, stepIndex: 0, token, failure: FAILURE });
      expect(await journal.resumeJob(third.jobId)).toMatchObject({ outcome: 'done' });
      expect(await journal.readOpenJobs(lane)).toEqual([first, second, third].map(({ jobId }) => jobId));
    });

    it('is accepted even though recent jobs were deleted', async () => {
      await redis.hset(laneKey(lane), 'forgottenUntil', '9'.repeat(15));
      expect(await journal.submitNamed(request())).toMatchObject({ outcome: 'accepted' });
    });

    it('must have an id that is made for its lane', async () => {
      await expect(journal.submitNamed({ ...request(), jobId: createJobId(sampleLane()) })).rejects.toThrow(TypeError);
      await expect(journal.submitNamed({ ...request(), jobId: 'mine' })).rejects.toThrow(TypeError);
    });
  });

  it('is listed in its own fleet only, and has separate settings', async () => {
    const other = new Journal({ redis, fleet: 'others', jobsKept: 7 });
    const created = sampleLane();
    await other.adopt(created, { pendingNonce: 0 });
    await other.open();
    expect(await other.readLanes()).toEqual([created]);
    expect(await journal.readLanes()).not.toContainEqual(created);
    expect(await redis.hget(laneKey(created), 'jobsKept')).toBe('7');
    expect(await redis.hget(laneKey(lane), 'jobsKept')).toBe('20000');
  });

  describe('an idempotency key', () => {
    it('creates one job, however often and however concurrently it is used', async () => {
      const request = sampleRequest(lane);
      const results = await Promise.all(Array.from({ length: 20 }, () => journal.submit(request)));
      const outcomes = results.map(({ outcome }) => outcome).sort();
      expect(outcomes).toEqual(['accepted', ...Array.from({ length: 19 }, () => 'known')]);
      const [{ jobId }] = results as { jobId: string }[] as [{ jobId: string }];
      expect(results).toMatchObject(results.map(() => ({ jobId })));
      await finishSample(journal, { jobId, stepIndex: 0, token });
      expect(await journal.submit(request)).toEqual({ outcome: 'known', jobId, state: 'FINAL' });
      expect(await journal.readOpenJobs(lane)).toEqual([]);
    });

    it('is a conflict with another fingerprint, in this wallet and in any other', async () => {
      const request = sampleRequest(lane);
      await journal.submit(request);
      expect(await journal.submit({ ...request, fingerprint: 'other' })).toEqual({ outcome: 'conflict' });
      const other = await adopt();
      expect(await journal.submit({ ...request, lane: other, fingerprint: 'other' })).toEqual({ outcome: 'conflict' });
      expect(await journal.readOpenJobs(other)).toEqual([]);
    });

    it('is a conflict once its wallet name refers to another account', async () => {
      const request = sampleRequest(lane);
      await journal.submit(request);
      const other = await adopt();
      expect(await journal.submit({ ...request, lane: other })).toEqual({ outcome: 'conflict' });
      expect(await journal.readOpenJobs(other)).toEqual([]);
    });

    it('is separate for each API key', async () => {
      const request = sampleRequest(lane);
      const [one, other] = [await journal.submit(request), await journal.submit({ ...request, keyId: 'key-2' })];
      expect([one, other]).toMatchObject([{ outcome: 'accepted' }, { outcome: 'accepted' }]);
    });

    it('finds its job in the lane after the claim is gone', async () => {
      const request = sampleRequest(lane);
      const first = await journal.submit(request);
      expect(await redis.del(idempotencyKey(hashIdempotencyKey(request.keyId, request.idempotencyKey)))).toBe(1);
      expect(await journal.submit(request)).toMatchObject({ ...first, outcome: 'known' });
      expect(await journal.submit({ ...request, fingerprint: 'other' })).toMatchObject({ outcome: 'conflict' });
    });

    it('continues after a crash that left a claim without a job', async () => {
      const request = sampleRequest(sampleLane());
      expect(await journal.submit(request)).toEqual({ outcome: 'refused', reason: 'not_adopted' });
      await journal.adopt(request.lane, { pendingNonce: 0 });
      expect(await journal.submit(request)).toMatchObject({ outcome: 'accepted' });
    });

    it('is new, even if a deleted job was claimed by a clock that was ahead', async () => {
      await redis.hset(laneKey(lane), 'forgottenUntil', '9'.repeat(15));
      const request = sampleRequest(lane);
      expect(await journal.submit(request)).toMatchObject({ outcome: 'accepted' });
      // As if its job was deleted too.
      await redis.del(`${laneKey(lane).replace(/lane$/, '')}idempotency`);
      expect(await journal.submit(request)).toEqual({ outcome: 'forgotten' });
    });

    it('never creates a second job after the first was deleted', async () => {
      const forgetful = new Journal({ redis, jobsKept: 1 });
      await forgetful.open();
      const request = sampleRequest(lane);
      const write = await submitSample(forgetful, lane, token, request);
      await finishSample(forgetful, write);
      for (let index = 0; index < 3; index++) await finishSample(forgetful, await submitSample(forgetful, lane, token));
      expect(await forgetful.readJob(write.jobId)).toBeNull();
      expect(await forgetful.submit(request)).toEqual({ outcome: 'forgotten' });
      await journal.open();
    });
  });

  it('refuses invalid input', async () => {
    const request = sampleRequest(lane);
    for (const changes of [
      { operation: '' },
      { keyId: 'a b' },
      { wallet: 'x'.repeat(65) },
      { fingerprint: 'a b' },
      { idempotencyKey: '' },
      { idempotencyKey: 'x'.repeat(256) },
      { input: 'x'.repeat(300_000) },
    ]) {
      await expect(journal.submit({ ...request, ...changes })).rejects.toThrow(TypeError);
    }
    const full = new Journal({ redis, maxOpenJobs: 2 });
    await submitSample(full, lane, token);
    await submitSample(full, lane, token);
    expect(await full.submit(request)).toEqual({ outcome: 'refused', reason: 'lane_full' });
  });

  it('leaves room for other API keys in a lane that one fills', async () => {
    const shared = new Journal({ redis, maxOpenJobs: 20 });
    const submit = (keyId: string) => shared.submit(sampleRequest(lane, { keyId }));
    const greedy = [];
    for (let count = 0; count < 20; count++) greedy.push(await submit('greedy'));
    expect(greedy.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(18);
    expect(greedy.at(-1)).toEqual({ outcome: 'refused', reason: 'lane_full' });
    expect(await submit('modest')).toMatchObject({ outcome: 'accepted' });
    expect(await submit('greedy')).toEqual({ outcome: 'refused', reason: 'lane_full' });
    expect(await submit('other')).toMatchObject({ outcome: 'accepted' });
    expect(await submit('other')).toEqual({ outcome: 'refused', reason: 'lane_full' });
  });

  it('does not count the open jobs of a nearly full lane for each submission', async () => {
    const shared = new Journal({ redis, maxOpenJobs: 100 });
    const submit = (keyId: string) => shared.submit(sampleRequest(lane, { keyId }));
    for (let count = 0; count < 90; count++) expect(await submit('greedy')).toMatchObject({ outcome: 'accepted' });
    const countReads = async () => Number(/cmdstat_hget:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
    const before = await countReads();
    for (let count = 0; count < 60; count++) expect(await submit('greedy')).toMatchObject({ reason: 'lane_full' });
    // A count reads 90 jobs.
    expect((await countReads()) - before).toBeLessThan(30 * 90);
  });

  it('counts the open jobs of a nearly full lane anew after others have taken the room that a key gave up', async () => {
    const shared = new Journal({ redis, maxOpenJobs: 20 });
    const submit = (keyId: string) => shared.submit(sampleRequest(lane, { keyId }));
    for (let count = 0; count < 10; count++) await submit('other');
    for (let count = 0; count < 9; count++) expect(await submit('greedy')).toMatchObject({ outcome: 'accepted' });
    expect(await submit('greedy')).toMatchObject({ reason: 'lane_full' });
    await journal.cancel((await journal.readOpenJobs(lane)).at(-1)!);
    expect(await submit('other')).toMatchObject({ outcome: 'accepted' });
    await waitFor('the key has eight jobs', async () => (await submit('greedy')).outcome === 'accepted');
  });

  it('creates no job after the given latest time', async () => {
    const nowMs = Number((await redis.time())[0]) * 1000;
    const submit = (latestMs: number) =>
      journal.submitNamed({ ...sampleRequest(lane), jobId: createJobId(lane), latestMs });
    expect(await submit(nowMs - 1000)).toEqual({ outcome: 'refused', reason: 'late' });
    expect(await submit(nowMs + 60_000)).toMatchObject({ outcome: 'accepted' });
  });

  describe('retention', () => {
    const keysOfLane = () => redis.keys(`tollgate:{${lane.chainId}:${lane.address}}:job:*`);

    /**
     * Ends a job, and returns in a later millisecond of Redis's clock: jobs that end in the same millisecond are
     * deleted in no particular order.
     */
    const endOne = async (kept: Journal): Promise<string> => {
      const { jobId } = await submitSample(kept, lane, token);
      await kept.cancel(jobId);
      const endedAtMs = await readTimeMs();
      while ((await readTimeMs()) === endedAtMs);
      return jobId;
    };
    const readTimeMs = async (): Promise<number> => {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    };

    it('keeps the configured number of ended jobs and every open one', async () => {
      const small = new Journal({ redis, jobsKept: 5 });
      await small.open();
      const open = await submitSample(small, lane, token);
      const ended: string[] = [];
      for (let index = 0; index < 12; index++) ended.push(await endOne(small));
      expect((await keysOfLane()).map((name) => name.split(':job:')[1]).sort()).toEqual(
        [open.jobId, ...ended.slice(-5)].sort(),
      );
      expect(await redis.hlen(`tollgate:{${lane.chainId}:${lane.address}}:idempotency`)).toBe(6);
      await journal.open();
    });

    it('deletes jobs that ended too long ago', async () => {
      const brief = new Journal({ redis, retentionMs: 0 });
      await brief.open();
      for (let index = 0; index < 5; index++) await endOne(brief);
      expect((await keysOfLane()).length).toBe(1);
      await journal.open();
    });
  });

  describe('the list', () => {
    const collect = async (request: Omit<ListJobsRequest, 'cursor'>): Promise<JobRecord[]> => {
      const jobs: JobRecord[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: JobPage = await journal.listJobs(cursor === '' ? request : { ...request, cursor });
        jobs.push(...page.jobs);
        cursor = page.cursor;
      }
      return jobs;
    };

    it.each([1, 2, 3, 7, 200])('shows every job of all lanes once, newest first, in pages of %d', async (limit) => {
      const lanes = [lane, await adopt(), await adopt()];
      const submitted: string[] = [];
      for (let index = 0; index < 20; index++) {
        const result = await journal.submit(sampleRequest(lanes[(index * 7) % 3]!));
        if (result.outcome === 'accepted') submitted.push(result.jobId);
      }
      const listed = await collect({ lanes, limit });
      expect(listed.map(({ id }) => id).sort()).toEqual([...submitted].sort());
      for (const one of lanes) {
        const inLane = ({ lane: { address } }: JobRecord) => address === one.address;
        const expected = submitted.filter((id) => listed.filter(inLane).some((job) => job.id === id)).reverse();
        expect(listed.filter(inLane).map(({ id }) => id)).toEqual(expected);
      }
    });

    it('filters by key, state and operation', async () => {
      const mine = await submitSample(journal, lane, token, { keyId: 'a', operation: 'swap' });
      const cancelled = await submitSample(journal, lane, token, { keyId: 'a', operation: 'stake' });
      await journal.cancel(cancelled.jobId);
      const others = await submitSample(journal, lane, token, { keyId: 'b', operation: 'swap' });
      const ids = async (filter: Partial<ListJobsRequest>) =>
        (await collect({ lanes: [lane], limit: 1, ...filter })).map(({ id }) => id);
      expect(await ids({ keyId: 'a' })).toEqual([cancelled.jobId, mine.jobId]);
      expect(await ids({ operation: 'swap' })).toEqual([others.jobId, mine.jobId]);
      expect(await ids({ states: ['CANCELLED', 'FINAL'] })).toEqual([cancelled.jobId]);
      expect(await ids({ keyId: 'b', states: ['CANCELLED'] })).toEqual([]);
    });

    it('names a job that cannot be read apart, to its key and to operators, and lists the others', async () => {
      const submit = async (keyId: string) => (await submitSample(journal, lane, token, { keyId })).jobId;
      const [first, unreadable, last] = [await submit('a'), await submit('a'), await submit('b')];
      await spoilJob(redis, lane, unreadable);
      const list = async (filter: Partial<ListJobsRequest> = {}) => {
        const page = await journal.listJobs({ lanes: [lane], ...filter });
        return [page.jobs.map(({ id }) => id), page.unreadable.map(({ jobId }) => jobId)];
      };
      expect(await list()).toEqual([[last, first], [unreadable]]);
      expect(await list({ keyId: 'a' })).toEqual([[first], [unreadable]]);
      expect(await list({ keyId: 'b' })).toEqual([[last], []]);
      expect(await list({ states: ['FINAL'] })).toEqual([[], [unreadable]]);
      expect((await collect({ lanes: [lane], limit: 1 })).map(({ id }) => id)).toEqual([last, first]);
      await redis.hdel(jobKey(lane, unreadable), 'keyId');
      expect(await list({ keyId: 'a' })).toEqual([[first], []]);
    });

    it('reads no job of another key whole, nor one that has ended in another state', async () => {
      const { jobId } = await submitSample(journal, lane, token, { keyId: 'a' });
      for (let count = 0; count < 5; count++) await submitSample(journal, lane, token, { keyId: 'b' });
      const countReads = async () =>
        Number(/cmdstat_hgetall:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
      const before = await countReads();
      expect((await journal.listJobs({ lanes: [lane], keyId: 'a' })).jobs.map(({ id }) => id)).toEqual([jobId]);
      expect((await countReads()) - before).toBe(1);
      await journal.cancel(jobId);
      expect((await journal.listJobs({ lanes: [lane], states: ['PLANNED'] })).jobs).toHaveLength(5);
      expect((await countReads()) - before).toBe(6);
    });

    it.each(['x', '1', '1.x', '-1.1:0x', `${'9'.repeat(20)}.1328:0x${'ab'.repeat(20)}`])(
      'refuses the invalid cursor %p',
      async (cursor) => {
        await expect(journal.listJobs({ lanes: [lane], cursor })).rejects.toThrow(TypeError);
      },
    );
  });

  it('stores the failure of a job with texts cut to a fixed length', async () => {
    const write = await submitSample(journal, lane, token);
    const message = 'é'.repeat(5000);
    await journal.failPlan({ ...write, failure: { ...FAILURE, message }, givesBackSpending: false });
    expect((await journal.readJob(write.jobId))!.failure!.message).toBe('é'.repeat(1000));
  });
});
