// Answers questions without doing anything, over the transport of the first argument, a name of TRANSPORTS.
import 'reflect-metadata';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagePattern, Transport } from '@nestjs/microservices';
import { RequestReplyServer, VERIFY_PAYMENT, type VerifyPaymentVerdict } from '@tollgate/transport';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';

import { ECHO_LIST, QUEUE } from '../transport-askers.js';

const redisUrl = process.env['REDIS_URL'] ?? '';
const { hostname: host, port } = new URL(redisUrl);
const connection = { host, port: Number(port) };

@Controller()
class NoopController {
  @MessagePattern(VERIFY_PAYMENT)
  verify(): VerifyPaymentVerdict {
    return { outcome: 'conflict' };
  }
}

@Module({ controllers: [NoopController] })
class NoopModule {}

async function serveRequestReply(): Promise<void> {
  const strategy = new RequestReplyServer({ redisUrl, queue: QUEUE });
  await (await NestFactory.createMicroservice(NoopModule, { strategy, logger: ['error'] })).listen();
}

async function serveNestRedis(): Promise<void> {
  const options = { transport: Transport.REDIS as const, options: connection };
  await (await NestFactory.createMicroservice(NoopModule, { ...options, logger: ['error'] })).listen();
}

async function serveBullmq(): Promise<void> {
  const worker = new Worker(QUEUE, async () => ({ outcome: 'conflict' }), {
    connection: { ...connection, maxRetriesPerRequest: null },
    concurrency: 256,
  });
  await worker.waitUntilReady();
}

/** Answers batches of questions over Redis lists by hand: no Nest, no JSON, no limit, no deadline. */
async function serveEcho(): Promise<void> {
  const blocking = new Redis(redisUrl);
  const commands = new Redis(redisUrl);
  await commands.ping();
  const echo = async (): Promise<never> => {
    for (;;) {
      const popped = await blocking.blmpop(0, 1, ECHO_LIST, 'LEFT', 'COUNT', 64);
      if (popped !== null) void commands.rpush(`${ECHO_LIST}:replies`, ...popped[1]);
    }
  };
  void echo();
}

const servers: Record<string, () => Promise<void>> = {
  'bare lists': serveEcho,
  'request-reply (ours)': serveRequestReply,
  'Nest Redis (pub/sub)': serveNestRedis,
  BullMQ: serveBullmq,
};
await servers[process.argv[2] ?? '']?.();
process.stdout.write(`ready ${redisUrl}\n`);
