/**
 * Round trips a second of the request-reply transport with a no-op handler: Nest server and client in two processes
 * over one Redis, next to a bare RPUSH/BLMPOP echo without Nest or JSON. Run: `npx tsx bench/lanes/transport.ts [inFlight]`.
 */
import 'reflect-metadata';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagePattern, Payload } from '@nestjs/microservices';
import {
  RequestReplyClient,
  RequestReplyServer,
  VERIFY_PAYMENT,
  type VerifyPaymentRequest,
  type VerifyPaymentVerdict,
} from '@tollgate/common';
import { Redis } from 'ioredis';
import { firstValueFrom } from 'rxjs';

import { startRedis } from '../../devnet/redis.js';

const QUEUE = 'bench';
const ECHO_LIST = 'echo:requests';
const RUNS = 5;
const RUN_MS = 2_000;

const request: VerifyPaymentRequest = {
  requestId: 'req-0123456789abcdef',
  owner: 'x5Zr4pXn3dVf0m9q2b7c1A',
  deadlineMs: 1_790_000_000_000,
  network: 'chain-testnet',
  chainId: 1328,
  asset: `0x${'4f'.repeat(20)}`,
  payTo: `0x${'70'.repeat(20)}`,
  priceBaseUnits: '1000',
  txHash: `0x${'ab'.repeat(32)}`,
  reference: { text: `chain-1790000000000-${'z'.repeat(80)}`, issuedAtMs: 1_790_000_000_000, priceBaseUnits: '1000' },
  fingerprint: 'x5Zr4pXn3dVf0m9q2b7c1A',
  retryKey: null,
  leaseMs: 30_000,
  clientAddress: '127.0.0.1',
};

@Controller()
class NoopController {
  @MessagePattern(VERIFY_PAYMENT)
  verify(@Payload() _question: VerifyPaymentRequest): VerifyPaymentVerdict {
    return { outcome: 'conflict' };
  }
}

@Module({ controllers: [NoopController] })
class NoopModule {}

async function serveNest(redisUrl: string): Promise<void> {
  const strategy = new RequestReplyServer({ redisUrl, queue: QUEUE });
  const app = await NestFactory.createMicroservice(NoopModule, { strategy, logger: ['error'] });
  await app.listen();
}

async function serveEcho(redisUrl: string): Promise<void> {
  const blocking = new Redis(redisUrl);
  const commands = new Redis(redisUrl);
  for (;;) {
    const popped = await blocking.blmpop(0, 1, ECHO_LIST, 'LEFT', 'COUNT', 64);
    if (popped !== null) void commands.rpush(`${ECHO_LIST}:replies`, ...popped[1]);
  }
}

/** Keeps `inFlight` questions open for RUN_MS and gives rate and median. */
async function drive(
  inFlight: number,
  question: () => Promise<unknown>,
): Promise<{ perSecond: number; p50Ms: number }> {
  const latenciesMs: number[] = [];
  const endMs = performance.now() + RUN_MS;
  const worker = async () => {
    while (performance.now() < endMs) {
      const startMs = performance.now();
      await question();
      latenciesMs.push(performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  latenciesMs.sort((a, b) => a - b);
  const p50Ms = latenciesMs[Math.floor(latenciesMs.length / 2)] ?? Number.NaN;
  return { perSecond: latenciesMs.length / (RUN_MS / 1000), p50Ms };
}

/** The bare echo: the same batching by hand, no Nest, no JSON, no limit, no deadline. */
function createEcho(redisUrl: string): { ask: () => Promise<unknown>; close: () => void } {
  const blocking = new Redis(redisUrl);
  const commands = new Redis(redisUrl);
  const text = JSON.stringify(request);
  const waiting: (() => void)[] = [];
  let batch: string[] = [];
  let closed = false;
  void (async () => {
    while (!closed) {
      const popped = await blocking.blmpop(0, 1, `${ECHO_LIST}:replies`, 'LEFT', 'COUNT', 1000).catch(() => null);
      for (const resolve of waiting.splice(0, popped?.[1].length ?? 0)) resolve();
    }
  })();
  const flush = () => {
    void commands.rpush(ECHO_LIST, ...batch);
    batch = [];
  };
  return {
    ask: () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (batch.push(text) === 1) setImmediate(flush);
      }),
    close: () => {
      closed = true;
      blocking.disconnect();
      commands.disconnect();
    },
  };
}

async function measure(): Promise<void> {
  const inFlight = Number(process.argv[2] ?? 64);
  const redis = await startRedis();
  const children: ChildProcess[] = ['nest', 'echo'].map((role) =>
    fork(fileURLToPath(import.meta.url), [], {
      env: { ...process.env, TRANSPORT_ROLE: role, TRANSPORT_REDIS: redis.url },
    }),
  );
  const client = new RequestReplyClient({ redisUrl: redis.url, queue: QUEUE, queueLimit: 10_000 });
  await client.connect();
  const echo = createEcho(redis.url);
  const lanes: Record<string, () => Promise<unknown>> = {
    'bare echo': () => echo.ask(),
    'ask()': () => client.ask(VERIFY_PAYMENT, request, { timeoutMs: 10_000, retryAfterMs: 4_000 }),
    'send()': () => firstValueFrom(client.send(VERIFY_PAYMENT, request)),
  };
  for (const lane of Object.values(lanes)) await drive(inFlight, lane);
  const results: Record<string, { perSecond: number; p50Ms: number }[]> = {};
  // Interleaved, so that a change of the machine's mood hits all lanes.
  for (let run = 0; run < RUNS; run++) {
    for (const [name, lane] of Object.entries(lanes)) (results[name] ??= []).push(await drive(inFlight, lane));
  }
  const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
  const bare = median((results['bare echo'] ?? []).map(({ perSecond }) => perSecond));
  console.log(`${inFlight} in flight, median of ${RUNS} runs of ${RUN_MS / 1000} s`);
  for (const [name, runs] of Object.entries(results)) {
    const rate = median(runs.map(({ perSecond }) => perSecond));
    const p50 = median(runs.map(({ p50Ms }) => p50Ms));
    console.log(
      `${name.padEnd(10)} ${Math.round(rate)}/s  p50 ${p50.toFixed(2)} ms  ${(rate / bare).toFixed(2)} of the bare echo`,
    );
  }
  await client.close();
  echo.close();
  for (const child of children) {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
  await redis.stop();
}

const redisUrl = process.env.TRANSPORT_REDIS ?? '';
if (process.env.TRANSPORT_ROLE === 'nest') await serveNest(redisUrl);
else if (process.env.TRANSPORT_ROLE === 'echo') await serveEcho(redisUrl);
else await measure();
