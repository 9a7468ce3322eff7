import { setTimeout as sleep } from 'node:timers/promises';

import { Logger } from '@nestjs/common';
import { DeadLetters, openWebhooksQueue, WaitingDeliveries, WebhookTargets } from '@tollgate/agent-jobs';
import { ApiKeyStore, WebhookEnvironment, type ApiKeyScope, type WebhookDelivery } from '@tollgate/common';
import type { JobEvent } from '@tollgate/journal';
import type { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { Registry, type Counter } from 'prom-client';

import { FAILURE, sampleHash, sampleLane } from '../../../libs/journal/test/sample-jobs.js';
import { startTarget, type WebhookReceiver } from '../../../test/harness/payments/start-target.js';
import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import { Webhooks } from '../src/webhooks/webhooks.js';

export const AGENT_SECRET = 'canary-agent-secret-of-at-least-32-characters';

export interface StartOptions {
  settings?: Partial<WebhookEnvironment>;
  allowPrivateTargets?: boolean;
  nameServers?: readonly string[];
  /** Hands events to the queue, and posts none. */
  isIdle?: boolean;
}

/** A Redis, targets, and workers that post to them. */
export class WebhookFixture {
  readonly redis: Redis;
  readonly targets: WebhookTargets;
  readonly queue: Queue<WebhookDelivery>;
  readonly deadLetters: DeadLetters;
  readonly waiting: WaitingDeliveries;
  registry = new Registry();
  #started: { webhooks: Webhooks; connection: Redis }[] = [];
  #receivers: WebhookReceiver[] = [];
  #sequence = 0;

  private constructor(readonly server: RedisServer) {
    this.redis = new Redis(server.url);
    // Some tests stop the server.
    this.redis.on('error', () => undefined);
    this.targets = new WebhookTargets(this.redis, { rules: { allowPrivateTargets: true }, limit: 100 });
    this.queue = openWebhooksQueue(this.redis);
    this.deadLetters = new DeadLetters(this.queue);
    this.waiting = new WaitingDeliveries(this.redis, this.queue);
  }

  static async start(): Promise<WebhookFixture> {
    Logger.overrideLogger(false);
    return new WebhookFixture(await startRedis({ appendfsync: 'no' }));
  }

  async stop(): Promise<void> {
    await this.queue.close();
    this.redis.disconnect();
    await this.server.stop();
  }

  /** Ends the workers and targets of a test, and deletes their data. */
  async clear(): Promise<void> {
    await Promise.all(this.#started.map(({ webhooks }) => webhooks.close(2_000)));
    for (const { connection } of this.#started.splice(0)) connection.disconnect();
    await Promise.all(this.#receivers.splice(0).map((receiver) => receiver.stop()));
    await this.redis.flushall();
  }

  /** The webhook part of a worker; its deliveries are tried three times, in quick succession. */
  startWebhooks({ settings = {}, allowPrivateTargets = true, nameServers, isIdle }: StartOptions = {}): Webhooks {
    this.registry = new Registry();
    const connection = new Redis(this.server.url, { maxRetriesPerRequest: null });
    connection.on('error', () => undefined);
    const webhooks = new Webhooks({
      journalRedis: this.redis,
      queueRedis: this.redis,
      consumerRedis: connection,
      agent: { agentSecret: AGENT_SECRET, allowPrivateTargets },
      settings: {
        ...new WebhookEnvironment(),
        ...{ webhookAttempts: 3, webhookFirstRetryMs: 20, webhookLongestRetryMs: 100, webhookTimeoutMs: 5_000 },
        ...settings,
      },
      registry: this.registry,
      ...(nameServers && { nameServers }),
    });
    this.#started.push({ webhooks, connection });
    if (isIdle !== true) webhooks.start();
    return webhooks;
  }

  async createKey(scope: ApiKeyScope = 'read'): Promise<string> {
    const { key } = await new ApiKeyStore(this.redis).create({ name: 'shop', scopes: [scope], wallets: ['*'] });
    return key.id;
  }

  async register(keyId: string, wishes: Partial<Parameters<WebhookTargets['register']>[0]> = {}) {
    const receiver = await startTarget();
    this.#receivers.push(receiver);
    const result = await this.targets.register({ keyId, url: receiver.url, ...wishes });
    if (result.outcome !== 'registered') throw new Error(`not registered: ${JSON.stringify(result)}`);
    return { receiver, target: result.target };
  }

  event(keyId: string, changes: Partial<JobEvent> = {}): JobEvent {
    const sequence = ++this.#sequence;
    const jobId = `j12345678-${sequence.toString(16).padStart(24, '0')}`;
    return {
      ...{ id: `${jobId}:REVERTED:${sequence}`, sequence, type: 'transactionFailed', jobId, state: 'REVERTED' },
      ...{ operation: 'swap', lane: sampleLane(), keyId, atMs: Date.now() + 1_000 },
      ...{ txHash: sampleHash(), error: FAILURE },
      ...changes,
    };
  }

  /** The whole content of Redis, as one text. */
  async dump(): Promise<string> {
    const texts: string[] = [];
    for (const key of await this.redis.keys('*')) {
      const value = await this.redis.dump(key);
      texts.push(key, value ?? '');
      const type = await this.redis.type(key);
      if (type === 'hash') texts.push(JSON.stringify(await this.redis.hgetall(key)));
      if (type === 'stream') texts.push(JSON.stringify(await this.redis.xrange(key, '-', '+')));
      if (type === 'string') texts.push((await this.redis.get(key)) ?? '');
    }
    return texts.join('\n');
  }

  /** The counts of the worker that was started last, once their sum has reached `sum`. */
  async waitForOutcomes(sum: number): Promise<Record<string, number>> {
    for (let attempt = 0; attempt < 3_000; attempt++) {
      const metric = this.registry.getMetricsAsArray().find(({ name }) => name.endsWith('webhook_deliveries_total'));
      const counter = metric as unknown as Counter<'outcome'>;
      const { values } = await counter.get();
      if (values.reduce((total, { value }) => total + value, 0) >= sum) {
        return Object.fromEntries(values.map(({ labels, value }) => [String(labels.outcome), value]));
      }
      await sleep(10);
    }
    throw new Error(`never as many as ${sum} deliveries were attempted`);
  }
}
