import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { createOwner, hashRetryKey, Ledger } from '@tollgate/ledger';
import { RequestReplyClient, RequestReplyServer } from '@tollgate/transport';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import { Journal } from '../../journal/src/store/journal.js';
import { finishSample, sampleLane, submitSample } from '../../journal/test/sample-jobs.js';
import { HEAD_AT_BIRTH, leaseOf, sampleClaim } from '../../ledger/test/sample-payments.js';

const REPLICA = { replicas: 1, timeoutMs: 1_000 };

@Controller()
class Doubler {
  @MessagePattern('double')
  double(@Payload() number: number) {
    return 2 * number;
  }
}

@Module({ controllers: [Doubler] })
class Doubling {}

// All other specs use Valkey, or a Redis of version 7.2 or newer. An operator's own Redis may be older.
describe('Redis 7.0, the oldest that is supported', () => {
  let server: RedisServer;
  let redis: Redis;

  // Fails where there is none, with what to do: a run without this spec proves less.
  beforeAll(async () => {
    server = await startRedis({ isOldest: true });
    redis = new Redis(server.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    redis.on('error', () => undefined);
  });

  beforeEach(() => redis.flushall());

  afterAll(async () => {
    redis?.disconnect();
    await server?.stop();
  });

  it('is what this spec runs on, and has no WAITAOF', async () => {
    expect(await redis.info('server')).toMatch(/^redis_version:7\.[01]\./m);
    await expect(redis.call('WAITAOF', 1, 0, 0)).rejects.toThrow(/unknown command/);
  });

  it('knows every command of every script', async () => {
    const files = execFileSync('git', ['ls-files', '*.lua'], { encoding: 'utf8' }).split('\n').filter(Boolean);
    const calls = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/redis\.p?call\(\s*'(\w+)'/g)]);
    const commands = [...new Set(calls.map(([, name = '']) => name))];
    expect(commands).toEqual(expect.arrayContaining(['HSET', 'XADD', 'ZADD']));
    const known = await redis.command('INFO', ...commands);
    expect(commands.filter((_, index) => known[index] === null)).toEqual([]);
  });

  it('keeps payments: each buys one answer, also after a kill -9', async () => {
    const ledger = new Ledger({ redis, chainIds: [1328], timeoutMs: 30_000 });
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    const request = sampleClaim(ledger, { retryKey: hashRetryKey('again') });
    const lease = leaseOf(await ledger.claim(request));
    expect(await ledger.renew(lease, 30_000)).toBe(true);
    const body = Buffer.from([0, 255, 10, 13]);
    expect(await ledger.commit(lease, { status: 200, headers: [], body })).toBe(true);
    const released = sampleClaim(ledger);
    expect(await ledger.release(leaseOf(await ledger.claim(released)), { counted: false })).toBe(true);
    leaseOf(await ledger.claim({ ...released, owner: createOwner() }));
    await server.kill();
    await server.start();
    expect(await ledger.claim({ ...request, owner: createOwner() })).toEqual({ outcome: 'answered', id: lease.id });
    expect((await ledger.readAnswer(lease.id))?.body).toEqual(body);
    const another = { ...request, retryKey: null, owner: createOwner() };
    expect(await ledger.claim(another)).toMatchObject({ outcome: 'used' });
  });

  it('keeps agent jobs, and notices a restart', async () => {
    const journal = new Journal({ redis, timeoutMs: 30_000 });
    await journal.open();
    const lane = sampleLane();
    await journal.adopt(lane, { pendingNonce: 7 });
    const token = (await journal.takeLease(lane, 'worker', 60_000))!.token;
    const write = await submitSample(journal, lane, token);
    await finishSample(journal, write);
    const events = await journal.outbox.read(lane, { after: 0 });
    expect(events.map(({ type }) => type)).toEqual(['transactionSubmitted', 'transactionConfirmed', 'jobCompleted']);
    await server.kill();
    await server.start();
    await journal.open();
    expect(await journal.readJob(write.jobId)).toMatchObject({ state: 'FINAL' });
    expect(await journal.readLane(lane)).toMatchObject({ nextNonce: 8, frozen: 'restarted' });
  });

  it('carries questions to a verifier and its answers', async () => {
    const queue = { redisUrl: server.url, queue: 'verify' };
    const strategy = new RequestReplyServer(queue);
    const app = await NestFactory.createMicroservice(Doubling, { strategy, logger: false });
    const client = new RequestReplyClient(queue);
    try {
      await app.listen();
      expect(await client.ask('double', 21, { timeoutMs: 50_000 })).toBe(42);
    } finally {
      await client.close();
      await app.close();
    }
  });

  it('carries jobs of BullMQ', async () => {
    const connection = { port: server.port, maxRetriesPerRequest: null };
    const queue = new Queue('webhooks', { connection });
    let worker: Worker | undefined;
    try {
      await queue.add('deliver', { event: 1 });
      const taken = await new Promise((resolve) => {
        worker = new Worker('webhooks', async ({ data }) => resolve(data), { connection });
      });
      expect(taken).toEqual({ event: 1 });
    } finally {
      await worker?.close();
      await queue.close();
    }
  });

  it.each([
    [
      'a ledger',
      () =>
        new Ledger({ redis, chainIds: [1328], durability: REPLICA }).open({
          chainId: 1328,
          blockNumber: HEAD_AT_BIRTH,
        }),
    ],
    ['a journal', () => new Journal({ redis, durability: REPLICA }).open()],
  ])('is refused by %s with LEDGER_DURABILITY=replica', async (_, open) => {
    await expect(open()).rejects.toMatchObject({
      code: 'redis_without_waitaof',
      hint: 'Use Redis 7.2 or later, or Valkey, or set LEDGER_DURABILITY=local.',
    });
  });
});
