import { Logger } from '@nestjs/common';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import {
  type ComparedQuestion,
  RequestReplyClient,
  VERIFY_PAYMENT,
  type VerifyPaymentRequest,
} from '@tollgate/transport';
import { Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { firstValueFrom } from 'rxjs';

/** Where client and server meet. */
export const QUEUE = 'bench';
export const ECHO_LIST = 'echo:requests';

/** One way of asking; each question waits for its answer. */
export interface Asker {
  ask: () => Promise<unknown>;
  close: () => Promise<unknown>;
}

const QUESTION: ComparedQuestion<VerifyPaymentRequest> = {
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
  // As long as those of a gateway with its defaults.
  settings: 'x'.repeat(410),
};

async function createRequestReplyAsker(redisUrl: string): Promise<Asker> {
  const client = new RequestReplyClient({ redisUrl, queue: QUEUE, queueLimit: 10_000 });
  await client.connect();
  return {
    ask: () => client.ask(VERIFY_PAYMENT, QUESTION, { timeoutMs: 10_000, retryAfterMs: 4_000 }),
    close: () => client.close(),
  };
}

/** Pushes and pops by hand, in the same batches. */
async function createEchoAsker(redisUrl: string): Promise<Asker> {
  const blocking = new Redis(redisUrl);
  const commands = new Redis(redisUrl);
  const text = JSON.stringify(QUESTION);
  const waiting: (() => void)[] = [];
  let batch: string[] = [];
  let isClosed = false;
  const listen = async () => {
    while (!isClosed) {
      const popped = await blocking.blmpop(0, 1, `${ECHO_LIST}:replies`, 'LEFT', 'COUNT', 1000).catch(() => null);
      popped?.[1].forEach(() => waiting.shift()?.());
    }
  };
  void listen();
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
    close: async () => {
      isClosed = true;
      blocking.disconnect();
      commands.disconnect();
    },
  };
}

async function createBullmqAsker(redisUrl: string): Promise<Asker> {
  const connection = plainConnection(redisUrl);
  const queue = new Queue(QUEUE, { connection });
  // One listener for each question that waits.
  queue.setMaxListeners(0);
  // From the first event: by default those between its start and its first read are lost, and their questions wait for ever.
  const events = new QueueEvents(QUEUE, { connection, lastEventId: '0' });
  await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);
  return {
    ask: async () => {
      const job = await queue.add(VERIFY_PAYMENT, QUESTION, { removeOnComplete: { count: 1_000 } });
      await job.waitUntilFinished(events);
    },
    close: () => Promise.all([queue.close(), events.close()]),
  };
}

async function createNestRedisAsker(redisUrl: string): Promise<Asker> {
  Logger.overrideLogger(['error', 'warn']);
  const client = ClientProxyFactory.create({ transport: Transport.REDIS, options: plainConnection(redisUrl) });
  await client.connect();
  return {
    ask: () => firstValueFrom(client.send(VERIFY_PAYMENT, QUESTION)),
    close: async () => void (await client.close()),
  };
}

function plainConnection(redisUrl: string): { host: string; port: number } {
  const { hostname, port } = new URL(redisUrl);
  return { host: hostname, port: Number(port) };
}

/** By the name of their row, which the server of the same transport is started with. */
export const TRANSPORTS: Record<string, (redisUrl: string) => Promise<Asker>> = {
  'bare lists': createEchoAsker,
  'request-reply (ours)': createRequestReplyAsker,
  'Nest Redis (pub/sub)': createNestRedisAsker,
  BullMQ: createBullmqAsker,
};
