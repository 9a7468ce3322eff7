import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Controller, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagePattern, Payload } from '@nestjs/microservices';
import type { Redis } from 'ioredis';

import { startTcpProxy } from '../../../../test/harness/network/tcp-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { findFreePort } from '../../../../tools/devnet/processes/free-port.js';
import { startRedis, type RedisServer } from '../../../../tools/devnet/processes/redis.js';
import { RequestReplyClient } from './request-reply-client.js';
import { NoReplyError } from './request-reply-error.js';
import { RequestReplyServer } from './request-reply-server.js';

const QUEUE = 'faults';
/** Ends a test that hangs; not a performance limit. */
const PATIENCE_MS = 50_000;

@Controller()
class DoublingController {
  @MessagePattern('question')
  double(@Payload() data: number): { question: number; answer: number } {
    return { question: data, answer: 2 * data };
  }
}

@Module({ controllers: [DoublingController] })
class DoublingModule {}

describe('request and reply when parts fail', () => {
  let redis: RedisServer;
  let cleanUp: (() => Promise<unknown>)[] = [];

  beforeEach(async () => {
    Logger.overrideLogger(false);
    redis = await startRedis({ appendonly: false });
    cleanUp = [() => redis.stop()];
  });

  afterEach(async () => {
    for (const step of cleanUp.reverse()) await step();
  });

  async function serve({ redisUrl = redis.url, closeTimeoutMs = 1_000 } = {}): Promise<RequestReplyServer> {
    const strategy = new RequestReplyServer({ redisUrl, queue: QUEUE, closeTimeoutMs });
    const app = await NestFactory.createMicroservice(DoublingModule, { strategy, logger: false });
    await app.listen();
    cleanUp.push(() => app.close());
    return strategy;
  }

  function createClient(): RequestReplyClient {
    const client = new RequestReplyClient({ redisUrl: redis.url, queue: QUEUE });
    cleanUp.push(() => client.close());
    return client;
  }

  it('answers before the deadline although the server that took the questions was killed', async () => {
    const { child, waitForLines } = startSilentServer(redis.url);
    cleanUp.push(() => endChild(child));
    await waitForLines('listening', 1);
    const client = createClient();
    const options = { timeoutMs: PATIENCE_MS, retryAfterMs: 500 };
    const answers = Array.from({ length: 20 }, (_, n) => client.ask('question', n, options));
    await waitForLines('took', 20);
    await endChild(child);
    await serve();
    const expected = Array.from({ length: 20 }, (_, n) => ({ question: n, answer: 2 * n }));
    await expect(Promise.all(answers)).resolves.toEqual(expected);
  });

  it('waits for a Redis that is down at its start, until it is closed', async () => {
    const port = await findFreePort();
    const warn = jest.spyOn(Logger.prototype, 'warn');
    const createServer = () => new RequestReplyServer({ redisUrl: `redis://127.0.0.1:${port}`, queue: QUEUE });
    const [left, closed] = [createServer(), createServer()];
    const [listening, refused] = [left, closed].map((server) => new Promise((resolve) => void server.listen(resolve)));
    const waits = () => warn.mock.calls.filter(([line]) => /waits for the Redis/.test(String(line)));
    await waitFor('both wait', () => waits().length === 2);
    warn.mockRestore();
    await closed.close();
    expect(await refused).toBeInstanceOf(Error);
    const late = await startRedis({ appendonly: false, port });
    expect(await listening).toBeUndefined();
    await left.close();
    await late.stop();
  });

  it('does not listen once it is closed, and keeps no connection', async () => {
    const server = new RequestReplyServer({ redisUrl: redis.url, queue: QUEUE });
    const listening = new Promise((resolve) => {
      void server.close();
      void server.listen(resolve);
    });
    expect(await listening).toBeInstanceOf(Error);
    const connections = server.unwrap<Redis[]>();
    await waitFor('its connections end', () => connections.every(({ status }) => status === 'end'));
  });

  it('survives a Redis that is killed and restarted under load, and mixes up no answers', async () => {
    const servers = await Promise.all([serve(), serve()]);
    const clients = [createClient(), createClient()];
    let asking = true;
    const outcomes = { right: 0, wrong: 0, failed: [] as unknown[] };
    const asker = async (n: number) => {
      for (let question = n; asking; question += 1_000) {
        try {
          const options = { timeoutMs: PATIENCE_MS, retryAfterMs: 300 };
          const answer = await clients[n % 2]!.ask<{ question: number; answer: number }>('question', question, options);
          if (answer.question === question && answer.answer === 2 * question) outcomes.right++;
          else outcomes.wrong++;
        } catch (error) {
          outcomes.failed.push(error);
        }
      }
    };
    const askers = Array.from({ length: 64 }, (_, n) => asker(n));
    for (let round = 0; round < 3; round++) {
      await grows(() => outcomes.right, 1_000);
      await redis.kill();
      await redis.start();
    }
    await grows(() => outcomes.right, 1_000);
    asking = false;
    await Promise.all(askers);
    expect(outcomes).toEqual({ right: outcomes.right, wrong: 0, failed: [] });
    expect(clients.map((client) => client.pending)).toEqual([0, 0]);
    for (const server of servers) expect(server.counts.taken).toBeGreaterThan(0);
  });

  it('gives up at the deadline while Redis is down, and works again when it is back', async () => {
    await serve();
    const client = createClient();
    await client.ask('question', 1, { timeoutMs: PATIENCE_MS });
    await redis.kill();
    const failures = Array.from({ length: 10 }, (_, n) =>
      client.ask('question', n, { timeoutMs: 300, retryAfterMs: 100 }).catch((error: unknown) => error),
    );
    for (const failure of await Promise.all(failures)) expect(failure).toBeInstanceOf(NoReplyError);
    await redis.start();
    const answer = client.ask('question', 21, { timeoutMs: PATIENCE_MS, retryAfterMs: 500 });
    await expect(answer).resolves.toEqual({ question: 21, answer: 42 });
  });

  it('repeats nothing unless allowed, and starts when Redis comes up after the client', async () => {
    await redis.kill();
    const client = createClient();
    const early = client.ask('question', 1, { timeoutMs: PATIENCE_MS, retryAfterMs: 200 });
    await redis.start();
    await serve();
    await expect(early).resolves.toEqual({ question: 1, answer: 2 });
    const before = client.counts.askedAgain;
    await client.ask('question', 2, { timeoutMs: PATIENCE_MS });
    expect(client.counts.askedAgain).toBe(before);
  });

  it('answers a question that was on its way to a server when the server was closed', async () => {
    const network = await startTcpProxy(redis.port);
    cleanUp.push(() => network.stop());
    const server = await serve({ redisUrl: `redis://127.0.0.1:${network.port}`, closeTimeoutMs: PATIENCE_MS });
    const client = createClient();
    await client.ask('question', 1, { timeoutMs: PATIENCE_MS });
    network.slowDown(1_500);
    const answer = client.ask('question', 2, { timeoutMs: PATIENCE_MS });
    await sleep(10);
    // Sent behind the question on its connection: Redis has delivered it, and the server does not have it yet.
    await client.unwrap<[Redis]>()[0].ping();
    const closed = server.close();
    await expect(answer).resolves.toEqual({ question: 2, answer: 4 });
    await closed;
  });

  it('closes server and client promptly while Redis is down or hangs', async () => {
    const server = await serve();
    const client = createClient();
    await client.ask('question', 1, { timeoutMs: PATIENCE_MS });
    redis.signal('SIGSTOP');
    // If they waited for Redis, this would hang until the test times out.
    await Promise.all([server.close(), client.close()]);
    redis.signal('SIGCONT');
    const second = await serve();
    await redis.kill();
    await second.close();
    expect(second.inFlight).toBe(0);
  });
});

function startSilentServer(url: string) {
  const program = join(__dirname, '../../test/silent-server.ts');
  const child = spawn(process.execPath, ['scripts/typescript.cjs', program, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  const waitForLines = async (start: string, count: number) => {
    while (output.split('\n').filter((line) => line.startsWith(start)).length < count) await once(child.stdout, 'data');
  };
  return { child, waitForLines };
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function grows(read: () => number, by: number): Promise<void> {
  const start = read();
  while (read() < start + by) await new Promise((resolve) => setTimeout(resolve, 10));
}
