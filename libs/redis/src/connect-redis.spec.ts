import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

import type { Cluster } from 'ioredis';

import { startRedisStandIn, type RedisStandIn } from '../../../test/harness/network/redis-stand-in.js';
import { waitFor } from '../../../test/harness/retry.js';
import { findFreePort } from '../../../tools/devnet/processes/free-port.js';
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
    // Both, before the server ends: one that has never connected would not wait to connect again.
    await Promise.all([client.ping(), twin.ping()]);
    const ended = [client, twin].map(async (one) => {
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

describe('a command that was sent when the connection was lost', () => {
  const logger = { log: () => undefined, warn: () => undefined, error: () => undefined };
  let server: RedisStandIn;

  beforeEach(async () => {
    server = await startRedisStandIn();
  });
  afterEach(() => server.stop());

  /** A client, and its twin, with a command to which there is no answer. */
  async function send(use: 'commands' | 'blocking') {
    const client = connectRedis({ url: server.url, role: 'sent', use, logger });
    const twin = duplicateRedis(client, {});
    twin.on('error', () => undefined);
    const before = countPops();
    const sent = [client, twin].map((redis) => ({
      redis,
      failed: new Promise<Error>((resolve) => void redis.blpop('list', 0).catch(resolve)),
    }));
    await waitFor('both are sent', () => countPops() === before + 2);
    return sent;
  }

  const countPops = () => server.commands.filter((name) => name === 'blpop').length;

  it('fails at the third connection that does not get ready', async () => {
    const sent = await send('commands');
    server.become('closing', { dropping: true });
    for (const { failed } of sent) expect((await failed).message).toMatch(/max retries per request/);
    for (const { redis } of sent) redis.disconnect();
  });

  it.each(['commands', 'blocking'] as const)('fails when the client is closed: %s', async (use) => {
    const sent = await send(use);
    // The next connection is made, and never ready.
    const connects = sent.map(({ redis }) => once(redis, 'connect'));
    server.become('silent', { dropping: true });
    await Promise.all(connects);
    for (const { redis } of sent) redis.disconnect();
    for (const { failed } of sent) expect((await failed).message).toMatch(/Connection is closed/);
  });

  it('is sent again once the server is ready', async () => {
    const sent = await send('commands');
    server.become('up', { dropping: true });
    await waitFor('it is sent again', () => countPops() === 4);
    for (const { redis } of sent) redis.disconnect();
    await Promise.all(sent.map(({ failed }) => failed));
  });

  it('fails with those after it while the server loads its data, unless it blocks', async () => {
    const sent = await send('commands');
    const blocking = await send('blocking');
    const isFailed = jest.fn();
    for (const { failed } of blocking) void failed.then(isFailed);
    server.become('loading', { dropping: true });
    for (const { failed } of sent) expect((await failed).message).toMatch(/loading/);
    await expect(sent[0]!.redis.set('key', 'value')).rejects.toThrow('loading');
    expect(isFailed).not.toHaveBeenCalled();
    for (const { redis } of [...sent, ...blocking]) redis.disconnect();
  });
});

describe('a client of Sentinels of which none answers', () => {
  it('fails what waits, unless it blocks, and its twin does', async () => {
    const logger = { log: () => undefined, warn: () => undefined, error: () => undefined };
    const url = `redis+sentinel://127.0.0.1:${await findFreePort()},127.0.0.1:${await findFreePort()}/main`;
    const client = connectRedis({ url, role: 'commands', logger });
    const twin = duplicateRedis(client, {});
    const blocking = duplicateRedis(client, { maxRetriesPerRequest: null });
    for (const one of [twin, blocking]) one.on('error', () => undefined);
    const failed = jest.fn();
    blocking.blpop('list', 0).catch(failed);
    // Twice: a search that goes on fails what comes later, too.
    for (let time = 0; time < 2; time++) {
      for (const one of [client, twin]) await expect(one.set('key', 'value')).rejects.toThrow('No Sentinel');
    }
    expect(failed).not.toHaveBeenCalled();
    for (const one of [client, twin, blocking]) one.disconnect();
    await waitFor('what blocks fails when it is closed', () => failed.mock.calls.length === 1);
  });
});

describe('a client of a cluster', () => {
  let shards: RedisShards;

  beforeAll(async () => {
    shards = await startRedisShards(1);
  });

  afterAll(() => shards.stop());

  it('ends when it is closed while it looks up the names of its nodes', async () => {
    const cluster = createRedis(shards.url, {});
    const ended = once(cluster, 'end');
    const waiting = cluster.ping();
    cluster.disconnect();
    await expect(waiting).rejects.toThrow();
    await ended;
  });

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

  it('fails what waits while its nodes load their data, unless it blocks', async () => {
    const server = await startRedisStandIn();
    const logger = { log: () => undefined, warn: () => undefined, error: () => undefined };
    const url = server.url.replace('redis:', 'redis+cluster:');
    const cluster = connectRedis({ url, role: 'commands', logger }) as Cluster;
    const twin = duplicateRedis(cluster, {}) as Cluster;
    const blocking = duplicateRedis(cluster, { maxRetriesPerRequest: null }) as Cluster;
    for (const one of [twin, blocking]) one.on('error', () => undefined);
    await Promise.all([cluster, twin, blocking].map((one) => one.ping()));
    server.become('loading', { dropping: true });
    const failed = jest.fn();
    blocking.blpop('list', 0).catch(failed);
    for (const one of [cluster, twin]) {
      await waitFor('the node is connected again', () => one.status === 'connect' && one.nodes().length === 1);
      const waiting = [one, ...one.nodes()].map((redis) => redis.set('key', 'value'));
      await Promise.all(waiting.map((command) => expect(command).rejects.toThrow('loading')));
    }
    expect(failed).not.toHaveBeenCalled();
    for (const one of [cluster, twin, blocking]) one.disconnect();
    await server.stop();
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
  });
});
