import { setTimeout as sleep } from 'node:timers/promises';

import { Logger } from '@nestjs/common';
import { ApiKeyStore } from '@tollgate/http';
import { Redis } from 'ioredis';
import { Registry, type Counter } from 'prom-client';

import { startTarget, type WebhookReceiver } from '../../../test/harness/payments/start-target.js';
import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import { deriveWebhookSecret } from '../src/post-event.js';
import type { Announced, NewWebhookTarget } from '../src/webhook-targets.js';
import { WebhookEnvironment } from '../src/webhook.environment.js';
import { Webhooks } from '../src/webhooks.js';

export const SECRET = 'canary-secret-of-at-least-32-characters';

const METRICS = {
  outcomes: 'webhook_deliveries_total',
  durations: 'webhook_duration_seconds',
  waiting: 'webhook_waiting',
  dead: 'webhook_dead_letters',
};

export interface StartOptions {
  settings?: Partial<WebhookEnvironment>;
  allowPrivateTargets?: boolean;
  nameServers?: readonly string[];
  /** Takes events, and posts none. */
  isIdle?: boolean;
}

export interface StartedWebhooks {
  webhooks: Webhooks;
  take: (...events: Announced[]) => Promise<void>;
  close: () => Promise<void>;
}

/** A Redis, targets, and processes that post to them. */
class WebhookFixture {
  server!: RedisServer;
  redis!: Redis;
  /** Posts nothing. */
  webhooks!: Webhooks;
  registry = new Registry();
  #started: StartedWebhooks[] = [];
  #receivers: WebhookReceiver[] = [];
  #sequence = 0;

  async start(): Promise<void> {
    Logger.overrideLogger(false);
    this.server = await startRedis({ appendfsync: 'no' });
    this.redis = new Redis(this.server.url);
    // Some tests stop the server.
    this.redis.on('error', () => undefined);
    this.webhooks = this.#create({});
  }

  async stop(): Promise<void> {
    await this.webhooks.close();
    this.redis.disconnect();
    await this.server.stop();
  }

  /** Ends the processes and targets of a test, and deletes their data. */
  async clear(): Promise<void> {
    await Promise.all(this.#started.splice(0).map(({ close }) => close()));
    await Promise.all(this.#receivers.splice(0).map((receiver) => receiver.stop()));
    await this.redis.flushall();
  }

  /** The webhooks of a process; their deliveries are tried three times, in quick succession. */
  startWebhooks(options: StartOptions = {}): StartedWebhooks {
    this.registry = new Registry();
    const webhooks = this.#create(options);
    const stopping = new AbortController();
    const running = options.isIdle === true ? Promise.resolve() : webhooks.run(stopping.signal);
    const started = {
      webhooks,
      take: (...events: Announced[]) => webhooks.take(events),
      close: async () => {
        stopping.abort();
        await running;
        await webhooks.close();
      },
    };
    this.#started.push(started);
    return started;
  }

  async createKey(): Promise<string> {
    const { key } = await new ApiKeyStore(this.redis).create({ name: 'shop', scopes: ['read'], wallets: ['*'] });
    return key.id;
  }

  async register(keyId: string, wishes: Partial<NewWebhookTarget> = {}) {
    const receiver = await startTarget();
    this.#receivers.push(receiver);
    const wanted = { keyId, url: receiver.url, hearsAll: false, ...wishes };
    const result = await this.webhooks.targets.register(wanted);
    if (result.outcome !== 'registered') throw new Error(`not registered: ${JSON.stringify(result)}`);
    return { receiver, target: result.target };
  }

  event(keyId: string | null): Announced {
    const [sequence, atMs] = [++this.#sequence, Date.now() + 1_000];
    const event = { id: `j1:REVERTED:${sequence}`, type: 'transactionFailed', operation: 'swap' };
    return { keyId, order: atMs, event: { ...event, at: new Date(atMs).toISOString() } };
  }

  /** The whole content of Redis, as one text. */
  async dump(): Promise<string> {
    const texts: string[] = [];
    for (const key of await this.redis.keys('*')) {
      texts.push(key, (await this.redis.dump(key)) ?? '');
      if ((await this.redis.type(key)) === 'hash') texts.push(JSON.stringify(await this.redis.hgetall(key)));
    }
    return texts.join('\n');
  }

  /** The counts of the process that was started last, once their sum has reached `sum`. */
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

  #create({ settings, allowPrivateTargets = true, nameServers }: StartOptions): Webhooks {
    return new Webhooks({
      redis: this.redis,
      subject: 'jobs',
      registry: this.registry,
      metrics: METRICS,
      secretOf: (targetId) => deriveWebhookSecret(SECRET, targetId),
      rules: { allowPrivateTargets, ...(nameServers && { nameServers }) },
      settings: {
        ...new WebhookEnvironment(),
        webhookAttempts: 3,
        webhookFirstRetryMs: 20,
        webhookLongestRetryMs: 100,
        webhookTimeoutMs: 5_000,
        ...settings,
      },
    });
  }
}

/** The fixture for the tests of a file, cleared after each. */
export function useWebhooks(): WebhookFixture {
  const fixture = new WebhookFixture();
  beforeAll(() => fixture.start());
  afterEach(() => fixture.clear());
  afterAll(() => fixture.stop());
  return fixture;
}
