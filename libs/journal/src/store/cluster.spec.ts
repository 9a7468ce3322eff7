import type { Cluster } from 'ioredis';

import { startRedisShards, type RedisShards } from '../../../../tools/devnet/processes/redis-shards.js';
import { finishSample, sampleLane, sampleRequest, submitSample } from '../../test/sample-jobs.js';
import { openLane } from '../../test/start-journal.js';
import * as keys from '../jobs/keys.js';
import { Journal } from './journal.js';

describe('a journal on a Redis cluster', () => {
  let started: RedisShards;
  let cluster: Cluster;
  let journal: Journal;

  beforeAll(async () => {
    started = await startRedisShards();
    ({ cluster } = started);
    journal = new Journal({ redis: cluster, timeoutMs: 20_000, jobsKept: 3 });
    await journal.open();
  });

  afterAll(() => started.stop());

  /** As the servers themselves count it. */
  const slotsOf = (names: readonly string[]) => Promise.all(names.map((name) => cluster.cluster('KEYSLOT', name)));

  it('has all keys of a lane in one slot', async () => {
    for (let index = 0; index < 50; index++) {
      const lane = sampleLane();
      const ofLane = [keys.openKey, keys.jobsKey, keys.flightKey, keys.eventsKey, keys.consumersKey];
      const names = [
        keys.laneKey(lane),
        keys.jobKey(lane, keys.createJobId(lane)),
        ...ofLane.map((name) => name(lane)),
      ];
      expect(new Set(await slotsOf(names)).size).toBe(1);
    }
  });

  it('completes jobs of many wallets, on all servers', async () => {
    const lanes = [];
    for (let index = 0; index < 12; index++) {
      const { lane, token } = await openLane(journal);
      for (let job = 0; job < 5; job++) {
        const write = await submitSample(journal, lane, token);
        const spendings = [{ asset: 'native', amount: 1n, limit: 10n }];
        expect(await journal.reserveSpending({ ...write, spendings })).toMatchObject({ outcome: 'done' });
        expect(await journal.takeLocks({ ...write, locks: ['one', 'two'] })).toMatchObject({ outcome: 'done' });
        await finishSample(journal, write);
      }
      const { position, run } = await journal.outbox.addConsumer(lane, 'one');
      expect(position).toBe(0);
      expect(await journal.outbox.read(lane, { after: 0 })).toHaveLength(15);
      await journal.outbox.acknowledge(lane, 'one', 15, run);
      expect(await journal.readLane(lane)).toMatchObject({ nextNonce: 5, openJobs: 0, unminedSteps: 0 });
      lanes.push(lane);
    }
    expect((await journal.readLanes()).length).toBe(12);
    const { jobs } = await journal.listJobs({ lanes, limit: 200 });
    expect(jobs).toHaveLength(12 * 3);
    const sizes = await Promise.all(cluster.nodes('master').map((node) => node.dbsize()));
    expect(sizes.every((size) => size > 0)).toBe(true);
    const perSlot = await Promise.all(
      cluster.nodes('master').map(async (node) => slotsOf(await node.keys('tollgate:{1328:*'))),
    );
    expect(new Set(perSlot.flat())).toEqual(new Set(await slotsOf(lanes.map((lane) => keys.laneKey(lane)))));
  });

  it('creates one job for an idempotency key whose claim is on another server than its lane', async () => {
    const [lane, other] = [sampleLane(), sampleLane()];
    for (const one of [lane, other]) await journal.adopt(one, { pendingNonce: 0 });
    for (let index = 0; index < 10; index++) {
      const request = sampleRequest(lane);
      const first = await journal.submit(request);
      expect(first).toMatchObject({ outcome: 'accepted' });
      expect(await journal.submit(request)).toEqual({ ...first, outcome: 'known' });
      expect(await journal.submit({ ...request, lane: other, fingerprint: 'x' })).toEqual({ outcome: 'conflict' });
    }
  });
});
