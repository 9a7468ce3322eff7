import { FAILURE, finishSample, planSample, sampleRequest, submitSample } from '../../test/sample-jobs.js';
import { openLane, useJournal, type OpenLane } from '../../test/start-journal.js';
import { laneKey } from '../jobs/keys.js';
import type { StepWrite } from '../jobs/transition.js';
import { Journal } from './journal.js';

describe('releasing an account', () => {
  const { redis, journal } = useJournal();
  let { lane, lease } = {} as OpenLane;
  const other = new Journal({ redis, fleet: 'others' });

  beforeEach(async () => {
    ({ lane, lease } = await openLane(journal));
  });

  const submit = (): Promise<StepWrite> => submitSample(journal, lane, lease.token);
  const keysOfLane = async () => (await redis.keys(laneKey(lane).replace(/lane$/, '*'))).sort();

  it("deletes its fleet, jobs and events, and lets another fleet adopt it at the chain's nonce", async () => {
    const request = sampleRequest(lane);
    const accepted = await journal.submit(request);
    if (accepted.outcome !== 'accepted') throw new Error('not accepted');
    await journal.cancel(accepted.jobId);
    await finishSample(journal, await submit());
    await journal.releaseLease(lease);
    const before = await keysOfLane();
    expect(await journal.release(lane, { isTrial: true })).toEqual({ outcome: 'done', endedJobs: 2 });
    expect(await keysOfLane()).toEqual(before);

    expect(await journal.release(lane)).toEqual({ outcome: 'done', endedJobs: 2 });
    expect(await keysOfLane()).toEqual([laneKey(lane)]);
    expect([await journal.readLanes(), await journal.readJob(accepted.jobId)]).toEqual([[], null]);
    expect(await journal.release(lane)).toEqual({ outcome: 'unchanged' });
    expect(await journal.submit(request)).toMatchObject({ outcome: 'refused', reason: 'not_adopted' });

    expect(await other.adopt(lane, { pendingNonce: 5 })).toEqual({ outcome: 'done' });
    expect(await other.readLane(lane)).toMatchObject({ fleet: 'others', nextNonce: 5, openJobs: 0 });
    // No earlier holder can write, and no earlier request is carried out a second time.
    expect((await other.takeLease(lane, 'verifier', 600_000))!.token).toBeGreaterThan(lease.token);
    expect(await other.submit(request)).toEqual({ outcome: 'forgotten' });
    expect(await journal.release(lane)).toEqual({ outcome: 'refused', reason: 'not_adopted' });
  });

  it('is refused while a process works on it', async () => {
    expect(await journal.release(lane)).toEqual({ outcome: 'refused', reason: 'lane_held' });
    expect(await journal.readLanes()).toContainEqual(lane);
  });

  it('is refused while a job is open, has a nonce, or waits for an operator', async () => {
    const refused = (counts: object) => ({ outcome: 'refused', reason: 'lane_busy', ...counts });
    const write = await submit();
    await planSample(journal, write);
    await journal.releaseLease(lease);
    expect(await journal.release(lane)).toEqual(refused({ openJobs: 1, steps: 0, parkedJobs: 0 }));
    const again = (await journal.takeLease(lane, 'worker', 600_000))!;
    const own = { ...write, token: again.token };
    await journal.reserve({ ...own, maxInFlight: 1 });
    await journal.releaseLease(again);
    expect(await journal.release(lane)).toEqual(refused({ openJobs: 1, steps: 1, parkedJobs: 0 }));
    const last = (await journal.takeLease(lane, 'worker', 600_000))!;
    await journal.needOperator({ ...own, token: last.token, failure: FAILURE });
    await journal.releaseLease(last);
    expect(await journal.release(lane)).toEqual(refused({ openJobs: 0, steps: 0, parkedJobs: 1 }));
    expect(await journal.readLane(lane)).toMatchObject({ nextNonce: 1 });
  });

  it('is refused while a consumer has not read its events', async () => {
    const { run } = await journal.outbox.addConsumer(lane, 'webhooks');
    await finishSample(journal, await submit());
    await journal.releaseLease(lease);
    expect(await journal.release(lane)).toEqual({ outcome: 'refused', reason: 'events_unread' });
    await journal.outbox.acknowledge(lane, 'webhooks', (await journal.readLane(lane)).lastSequence, run);
    expect(await journal.release(lane)).toEqual({ outcome: 'done', endedJobs: 1 });
  });

  it('is refused on a server that may have lost data', async () => {
    await journal.releaseLease(lease);
    await redis.hset(laneKey(lane), 'run', 'another');
    expect(await journal.release(lane)).toEqual({ outcome: 'refused', reason: 'lane_frozen' });
  });
});
