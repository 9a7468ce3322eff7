import { Controller, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, EventPattern, MessagePattern, Payload, RpcException } from '@nestjs/microservices';
import { Redis } from 'ioredis';
import { firstValueFrom, of } from 'rxjs';

import { waitFor } from '../../../../test/harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { currentRequestId } from '../../../http/src/request-id.js';
import type { RequestEnvelope } from './envelope.js';
import { RequestReplyClient, type AskOptions, type RequestReplyClientOptions } from './request-reply-client.js';
import { RequestReplyContext } from './request-reply-context.js';
import { NoReplyError, QueueFullError, RequestFailedError } from './request-reply-error.js';
import { RequestReplyServer, type RequestReplyServerOptions } from './request-reply-server.js';

const QUEUE = 'verify';
const REQUESTS = `tollgate:{${QUEUE}}:requests`;

/** The messages that the handlers of one test received. */
let handled: { replica: number; data: unknown; questionId?: string }[] = [];
/** Keeps `held` questions open until it is called. */
let letGo: () => void = () => undefined;
let held: Promise<void> = Promise.resolve();

function createModule(replica: number) {
  @Controller()
  class EchoController {
    @MessagePattern('echo')
    echo(@Payload() data: unknown, @Ctx() context: RequestReplyContext) {
      handled.push({ replica, data });
      return { data, replica, requestId: context.requestId, inLog: currentRequestId() };
    }

    @MessagePattern('held')
    async held(@Payload() data: unknown, @Ctx() { questionId }: RequestReplyContext) {
      handled.push({ replica, data, questionId });
      await held;
      return data;
    }

    @MessagePattern('observable')
    observable() {
      return of('first', 'last');
    }

    @MessagePattern('nothing')
    nothing() {
      return undefined;
    }

    @MessagePattern('fails')
    fails() {
      throw new Error('internal detail');
    }

    @MessagePattern('refuses')
    refuses() {
      throw new RpcException('message for the asker');
    }

    @EventPattern('happened')
    happened(@Payload() data: unknown) {
      handled.push({ replica, data });
    }
  }

  @Module({ controllers: [EchoController] })
  class EchoModule {}
  return EchoModule;
}

describe('request and reply', () => {
  let redis: BorrowedRedis;
  let direct: Redis;
  let cleanUp: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    Logger.overrideLogger(false);
    redis = await borrowRedis();
    direct = new Redis(redis.url);
    direct.on('error', () => undefined);
  });

  afterAll(async () => {
    direct.disconnect();
    await redis.stop();
  });

  beforeEach(async () => {
    handled = [];
    held = Promise.resolve();
    await direct.flushall();
  });

  afterEach(async () => {
    letGo();
    for (const step of cleanUp.reverse()) await step();
    cleanUp = [];
  });

  function hold(): void {
    held = new Promise((resolve) => (letGo = resolve));
  }

  async function serve(replica = 0, options: Partial<RequestReplyServerOptions> = {}): Promise<RequestReplyServer> {
    const strategy = new RequestReplyServer({ redisUrl: redis.url, queue: QUEUE, ...options });
    const app = await NestFactory.createMicroservice(createModule(replica), { strategy, logger: false });
    await app.listen();
    cleanUp.push(() => app.close());
    return strategy;
  }

  function createClient(options: Partial<RequestReplyClientOptions> = {}): RequestReplyClient {
    const client = new RequestReplyClient({ redisUrl: redis.url, queue: QUEUE, ...options });
    cleanUp.push(() => client.close());
    return client;
  }

  /** Redis has half a second to take a request back, which may be too short on a busy machine: it is then asked again. */
  async function askUntilUntaken(client: RequestReplyClient, options: AskOptions): Promise<void> {
    await waitFor('a request is reported as untaken', async () => {
      const error: unknown = await client.ask('echo', 1, options).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'no_reply' });
      return (error as NoReplyError).isUntaken;
    });
  }

  /** Ends a test that hangs; not a performance limit. */
  const soon = { timeoutMs: 50_000 };

  it('answers ask() and send(), with the request id in the context and in the log context of the handler', async () => {
    await serve();
    const client = createClient();
    await expect(client.ask('echo', { a: 1 }, { ...soon, requestId: 'req-7' })).resolves.toEqual({
      data: { a: 1 },
      replica: 0,
      requestId: 'req-7',
      inLog: 'req-7',
    });
    await expect(firstValueFrom(client.send('echo', 'b'))).resolves.toMatchObject({ data: 'b' });
    await expect(client.ask('observable', 0, soon)).resolves.toBe('last');
    await expect(client.ask('nothing', 0, soon)).resolves.toBeNull();
  });

  it('has the request id only in the context of a handler that runs without a log context', async () => {
    await serve(0, { hasLogContext: false });
    const answer = await createClient().ask('echo', 1, { ...soon, requestId: 'req-8' });
    expect(answer).toEqual({ data: 1, replica: 0, requestId: 'req-8' });
  });

  it('delivers an event to one handler, and waits for no reply', async () => {
    const server = await serve();
    const client = createClient();
    client.emit('happened', { n: 1 });
    await waitFor('the event is handled', () => handled.length === 1);
    expect(handled[0]?.data).toEqual({ n: 1 });
    expect(server.counts.answered).toBe(0);
  });

  it('reports a failing handler to the asker, without the details of an unexpected error', async () => {
    await serve();
    const client = createClient();
    const failure = await client.ask('fails', 0, soon).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RequestFailedError);
    expect(failure).toMatchObject({ code: 'handler_failed', message: 'Internal server error' });
    await expect(client.ask('refuses', 0, soon)).rejects.toThrow('message for the asker');
    await expect(client.ask('unknown.v9', 0, soon)).rejects.toMatchObject({ code: 'no_handler' });
    await expect(client.ask('__proto__', 0, soon)).rejects.toMatchObject({ code: 'no_handler' });
  });

  it('lets exactly one of many replicas handle each request', async () => {
    await Promise.all([0, 1, 2, 3].map((replica) => serve(replica, { popCount: 4 })));
    const clients = [createClient({ queueLimit: 10_000 }), createClient({ queueLimit: 10_000 })];
    const asked = Array.from({ length: 2_000 }, (_, n) => n);
    const answers = await Promise.all(asked.map((n) => clients[n % 2]!.ask<{ data: number }>('echo', n, soon)));
    expect(answers.map(({ data }) => data)).toEqual(asked);
    expect(handled.map(({ data }) => data).sort((a, b) => Number(a) - Number(b))).toEqual(asked);
    expect(new Set(handled.map(({ replica }) => replica)).size).toBe(4);
  });

  it('lets a server with the routing key handle a request with one, whatever the others do', async () => {
    await serve(1, { routingKeys: ['a', 'shared'] });
    await serve(2, { routingKeys: ['b', 'shared'] });
    const client = createClient();
    const ask = async (routingKey?: string) => {
      const options = { ...soon, ...(routingKey !== undefined && { routingKey }) };
      return (await client.ask<{ replica: number }>('echo', 0, options)).replica;
    };
    const keys = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'a' : 'b'));
    expect(await Promise.all(keys.map(ask))).toEqual(keys.map((key) => (key === 'a' ? 1 : 2)));
    expect([1, 2]).toContain(await ask('shared'));
    expect([1, 2]).toContain(await ask());
  });

  it('removes a request whose routing key no server has, and leaves nothing in its list', async () => {
    await serve(1, { routingKeys: ['a'] });
    const client = createClient();
    await askUntilUntaken(client, { timeoutMs: 500, retryAfterMs: 200, isTakenBack: true, routingKey: 'b' });
    expect(handled).toEqual([]);
    expect(await direct.exists(`${REQUESTS}:b`)).toBe(0);
  });

  it('serves every list, even if another is never empty', async () => {
    const client = createClient();
    const flood = Array.from({ length: 60 }, () => client.ask('echo', 'flood', { ...soon, routingKey: 'a' }));
    const rare = client.ask('echo', 'rare', { ...soon, routingKey: 'b' });
    while ((await direct.llen(`${REQUESTS}:b`)) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await serve(1, { routingKeys: ['a', 'b'], popCount: 4 });
    await Promise.all([...flood, rare]);
    expect(handled.findIndex(({ data }) => data === 'rare')).toBeLessThan(10);
  });

  it('refuses requests above the limit of the queue at once, and never lets it grow further', async () => {
    const limit = 50;
    const clients = [1, 2, 3].map(() => createClient({ queueLimit: limit }));
    await Promise.all(clients.map((client) => client.connect()));
    const lengths: number[] = [];
    const asked = clients.flatMap((client) =>
      Array.from({ length: 200 }, (_, n) => client.ask('echo', n, soon).then(() => 'answered', nameOf)),
    );
    await waitFor('the others are refused', async () => {
      lengths.push(await direct.llen(REQUESTS));
      return clients.reduce((sum, client) => sum + client.counts.queueFull, 0) >= 550;
    });
    expect(await direct.llen(REQUESTS)).toBe(limit);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(limit);
    await serve();
    const outcomes = await Promise.all(asked);
    expect(outcomes.filter((outcome) => outcome === 'answered')).toHaveLength(limit);
    expect(outcomes.filter((outcome) => outcome === QueueFullError.name)).toHaveLength(550);
  });

  it('removes every copy of a request that no server has taken, and reports it as untaken', async () => {
    const client = createClient();
    await client.connect();
    const late = { timeoutMs: 1_000, retryAfterMs: 50 };
    await askUntilUntaken(client, { ...late, isTakenBack: true });
    expect(client.counts.askedAgain).toBeGreaterThan(0);
    expect(await direct.llen(REQUESTS)).toBe(0);
    await expect(client.ask('echo', 2, late)).rejects.toMatchObject({ isUntaken: false });
    expect(await direct.llen(REQUESTS)).toBeGreaterThan(0);
  });

  it('does not report as untaken a request that a server took, or may have taken', async () => {
    const client = createClient();
    await client.connect();
    const asked = client.ask('held', 1, { timeoutMs: 1_000, retryAfterMs: 200, isTakenBack: true });
    const refused = expect(asked).rejects.toMatchObject({ isUntaken: false });
    // One copy is lost with the server that took it; the others stay in the list.
    expect(await direct.blpop(REQUESTS, 5)).not.toBeNull();
    await refused;
    await waitFor('the copies are removed', async () => (await direct.llen(REQUESTS)) === 0);
  });

  it('drops requests past their deadline without handling them', async () => {
    const client = createClient();
    await client.connect();
    await expect(client.ask('echo', 'late', { timeoutMs: 300 })).rejects.toBeInstanceOf(NoReplyError);
    await waitFor('the question is in the list', async () => (await direct.llen(REQUESTS)) === 1);
    // Redis's clock decides, not this process's: the deadline has passed when this has been read.
    await direct.blpop('nothing', 0.2);
    const server = await serve();
    await expect(client.ask('echo', 'in time', soon)).resolves.toMatchObject({ data: 'in time' });
    expect(handled.map(({ data }) => data)).toEqual(['in time']);
    expect(server.counts.pastDeadline).toBe(1);
  });

  it('skips entries that are malformed or too long, and continues', async () => {
    const valid = { v: 1, id: 'x', pattern: 'echo', data: 1, replyTo: null, deadlineMs: 9e15, requestId: 'r' };
    const malformed = [
      '',
      'not json',
      'null',
      '[]',
      '7',
      '[['.repeat(50_000),
      `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      '{"__proto__":{"v":1}}',
      JSON.stringify({ ...valid, v: 2 }),
      JSON.stringify({ ...valid, id: 'i'.repeat(129) }),
      JSON.stringify({ ...valid, pattern: { deep: true } }),
      JSON.stringify({ ...valid, deadlineMs: 'never' }),
      JSON.stringify({ ...valid, replyTo: 'tollgate:{pay-1}:birth:1328' }),
      JSON.stringify({ ...valid, replyTo: 5 }),
      JSON.stringify({ ...valid, data: undefined }),
      JSON.stringify({ ...valid, data: 'x'.repeat(300_000) }),
    ];
    await direct.rpush(REQUESTS, ...malformed, Buffer.from([0xff, 0xfe, 0x00]));
    const server = await serve();
    await expect(createClient().ask('echo', 'good', soon)).resolves.toMatchObject({ data: 'good' });
    expect(handled).toHaveLength(1);
    expect(server.counts.malformed).toBe(malformed.length + 1);
  });

  it('refuses to send a request that a server would skip', async () => {
    await expect(createClient().ask('echo', 'x'.repeat(300_000), soon)).rejects.toBeInstanceOf(RangeError);
    expect(await direct.llen(REQUESTS)).toBe(0);
  });

  it('skips malformed replies, and replies to unknown questions', async () => {
    hold();
    await serve();
    const client = createClient();
    const answer = client.ask('held', 'mine', soon);
    await waitFor('the question is handled', () => handled.length === 1);
    const list = (await direct.client('LIST')) as string;
    const clientId = /name=tollgate-verify-(\S+)-asks/.exec(list)![1];
    const stranger = JSON.stringify({ v: 1, id: `${clientId}.zz`, data: 'stranger' });
    await direct.rpush(`tollgate:{${QUEUE}}:replies:${clientId}`, 'junk', '{"v":1}', stranger);
    await waitFor('the stray reply', () => client.counts.strayReplies === 1);
    letGo();
    await expect(answer).resolves.toBe('mine');
  });

  it('repeats a question before the deadline, and another server answers', async () => {
    hold();
    const first = await serve(1);
    const client = createClient();
    const answer = client.ask('held', 'again', { ...soon, retryAfterMs: 100 });
    // On a busy machine it is repeated a third time before the assertion.
    await waitFor('the question is taken', () => first.inFlight >= 1);
    await waitFor('the repeat is handled', () => handled.length >= 2);
    letGo();
    await expect(answer).resolves.toBe('again');
    await waitFor('the late reply', () => client.counts.strayReplies >= 1);
    expect(client.pending).toBe(0);
  });

  // Regression: a copy that was handled after a refusal claimed the payment for a request that was over.
  it('removes the copies of an answered question from the list, and nothing else', async () => {
    const client = createClient();
    await client.connect();
    const other = client.ask('echo', 'other', soon);
    await waitFor('the question is in the list', async () => (await direct.llen(REQUESTS)) === 1);
    const answer = client.ask('echo', 'mine', { ...soon, retryAfterMs: 50 });
    await waitFor('its repeats are in the list', async () => (await direct.llen(REQUESTS)) >= 4);
    const { id, replyTo } = JSON.parse((await direct.rpop(REQUESTS))!) as RequestEnvelope;
    await direct.rpush(replyTo!, JSON.stringify({ v: 1, id, data: 'refused' }));
    await expect(answer).resolves.toBe('refused');
    await waitFor('its copies are removed', async () => (await direct.llen(REQUESTS)) === 1);
    await serve();
    await expect(other).resolves.toMatchObject({ data: 'other' });
    expect(handled.map(({ data }) => data)).toEqual(['other']);
  });

  it('looks for no copies of a question that was sent once', async () => {
    await serve();
    const client = createClient();
    await direct.config('RESETSTAT');
    await client.ask('echo', 1, { ...soon, retryAfterMs: 40_000 });
    // Sent later on the connection that would have carried the look-up.
    await client.ask('echo', 2, { ...soon, retryAfterMs: 40_000 });
    const calls = await direct.info('commandstats');
    expect(calls).toContain('cmdstat_rpush:');
    expect(calls).not.toContain('cmdstat_lrem:');
  });

  it('lets its handler distinguish a copy of a question from another question', async () => {
    hold();
    await serve();
    const client = createClient();
    const answers = [client.ask('held', 'one', { ...soon, retryAfterMs: 100 }), client.ask('held', 'other', soon)];
    const idsOf = (asked: string) => handled.filter(({ data }) => data === asked).map(({ questionId }) => questionId);
    await waitFor('both are handled, one of them again', () => idsOf('one').length >= 2 && idsOf('other').length === 1);
    letGo();
    await Promise.all(answers);
    const [one] = idsOf('one');
    expect(one).toMatch(/./);
    expect(new Set(idsOf('one'))).toEqual(new Set([one]));
    expect(idsOf('other')).not.toContain(one);
  });

  it('handles at most maxInFlight at once and leaves the rest to other replicas', async () => {
    hold();
    const server = await serve(1, { maxInFlight: 3 });
    const client = createClient();
    const answers = Array.from({ length: 10 }, (_, n) => client.ask('held', n, soon));
    await waitFor('the server is full', async () => server.inFlight === 3 && (await direct.llen(REQUESTS)) === 7);
    letGo();
    await expect(Promise.all(answers)).resolves.toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('finishes the questions it took when it closes, and takes no more', async () => {
    hold();
    const server = await serve(1, { maxInFlight: 5 });
    const client = createClient();
    const answers = Array.from({ length: 5 }, (_, n) => client.ask('held', n, soon));
    await waitFor('all are taken', () => server.inFlight === 5);
    const closed = server.close();
    const later = client.ask('echo', 'later', soon);
    letGo();
    await expect(Promise.all(answers)).resolves.toEqual([0, 1, 2, 3, 4]);
    await closed;
    await waitFor('the later one is in the list', async () => (await direct.llen(REQUESTS)) === 1);
    await serve(2);
    await expect(later).resolves.toMatchObject({ replica: 2 });
  });

  it('fails the open requests when the client closes', async () => {
    const client = createClient();
    const answer = client.ask('echo', 1, soon).catch((error: unknown) => error);
    await waitFor('the question is in the list', async () => (await direct.llen(REQUESTS)) === 1);
    await client.close();
    await expect(answer).resolves.toBeInstanceOf(NoReplyError);
    await expect(client.ask('echo', 2, soon)).rejects.toBeInstanceOf(NoReplyError);
  });

  it('lets the reply list of a dead client expire', async () => {
    await serve();
    const dead = `tollgate:{${QUEUE}}:replies:dead`;
    const question = { v: 1, id: 'dead.1', pattern: 'echo', data: 1, replyTo: dead, deadlineMs: 9e15, requestId: 'r' };
    await direct.rpush(REQUESTS, JSON.stringify(question));
    await waitFor('the reply is in the list', async () => (await direct.llen(dead)) === 1);
    expect(await direct.pttl(dead)).toBeGreaterThan(0);
  });

  it('continues after FLUSHALL, also with the scripts flushed', async () => {
    await serve();
    const client = createClient();
    await client.ask('echo', 1, soon);
    await direct.flushall();
    await direct.script('FLUSH');
    await expect(client.ask('echo', 2, soon)).resolves.toMatchObject({ data: 2 });
  });

  it('continues after its list had another type for a while', async () => {
    await serve();
    const client = createClient();
    await direct.set(REQUESTS, 'a string');
    const answer = client.ask('echo', 1, { ...soon, retryAfterMs: 500 });
    await waitFor('the question is asked', () => client.pending === 1);
    await direct.del(REQUESTS);
    await expect(answer).resolves.toMatchObject({ data: 1 });
  });
});

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : String(error);
}
