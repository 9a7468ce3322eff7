import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

import type { Cluster } from 'ioredis';

import { startRedisShards, type RedisShards } from '../../../tools/devnet/processes/redis-shards.js';
import { startRedis } from '../../../tools/devnet/processes/redis.js';
import { connectRedis, createRedis, duplicateRedis } from './connect-redis.js';
import { StoreError } from './store-error.js';

/** The slots are read again after it. */
const INTERVAL_MS = 2_000;

describe('a client of one server', () => {
  it('is refused a URL that cannot be read, without any part of it', () => {
    let refusal: unknown;
    try {
      createRedis('redis://user:canary#word@127.0.0.1', {});
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(StoreError);
    expect(inspect(refusal)).not.toContain('canary');
  });
});

describe('a client that is closed while it waits to connect again', () => {
  const logger = { log: () => undefined, warn: () => undefined, error: () => undefined };

  it.each([
    ['one server', startRedis],
    ['a cluster', () => startRedisShards(1)],
  ])('of %s ends, and fails what waits', async (_, start) => {
    const server = await start();
    const client = connectRedis({ url: server.url, role: 'waiting', use: 'blocking', logger });
    const twin = duplicateRedis(client, {});
    twin.on('error', () => undefined);
    const ended = [client, twin].map(async (one) => {
      await one.ping();
      const [waits, ends] = [once(one, 'reconnecting'), once(one, 'end')];
      await server.stop();
      await waits;
      const popped = one.blpop('list', 0);
      one.disconnect();
      await expect(popped).rejects.toThrow();
      await ends;
    });
    await Promise.all(ended);
    expect([client.status, twin.status]).toEqual(['end', 'end']);
  });
});

describe('a client of a cluster', () => {
  let shards: RedisShards;

  beforeAll(async () => {
    shards = await startRedisShards(1);
  });

  afterAll(() => shards.stop());

  it('reads the slots no more once it was closed, also while it read them', async () => {
    const cluster = createRedis(shards.url, {}) as Cluster;
    const twin = duplicateRedis(cluster, {}) as Cluster;
    const reads = [cluster, twin].map((client) => {
      const read = client.refreshSlotsCache.bind(client);
      return jest.spyOn(client, 'refreshSlotsCache').mockImplementation((done) => {
        read(done);
        if (client.status === 'ready') client.disconnect();
      });
    });
    await Promise.all([cluster, twin].map((client) => once(client, 'end')));
    const counts = reads.map(({ mock }) => mock.calls.length);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    await sleep(INTERVAL_MS + 500);
    expect(reads.map(({ mock }) => mock.calls.length)).toEqual(counts);
  });

  it('fails what waits while no node answers, unless it blocks, and carries none of it out later', async () => {
    const own = await startRedisShards(1);
    const logger = { log: () => undefined, warn: () => undefined, error: () => undefined };
    const cluster = connectRedis({ url: own.url, role: 'commands', logger }) as Cluster;
    const blocking = duplicateRedis(cluster, { maxRetriesPerRequest: null }) as Cluster;
    await Promise.all([cluster, blocking].map((client) => client.ping()));
    blocking.on('error', () => undefined);
    await own.stop();
    const failed = jest.fn();
    blocking.blpop('list', 0).catch(failed);
    const outcomes = await Promise.allSettled(Array.from({ length: 1_000 }, () => cluster.set('key', 'value')));
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect((cluster as unknown as { offlineQueue: { length: number } }).offlineQueue).toHaveLength(0);
    expect(failed).not.toHaveBeenCalled();
    for (const client of [cluster, blocking]) client.disconnect();
  }, 30_000);
});
