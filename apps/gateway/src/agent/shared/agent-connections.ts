import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { WakeQueues, WalletDirectory } from '@tollgate/agent-jobs';
import { REDIS_LOGGER } from '@tollgate/common';
import { ApiKeyStore } from '@tollgate/http';
import { Journal, OutboxFollower } from '@tollgate/journal';
import { closeWithin, connectRedis, type RedisClient, StoreUnavailableError, withTimeout } from '@tollgate/redis';
import { PLAN_QUEUE, RequestReplyClient } from '@tollgate/transport';
import { WebhookDeliveries, WebhookTargets } from '@tollgate/webhooks';

import { GatewayEnvironment } from '../../config/gateway.config.js';

const TIMEOUT_MS = 3_000;
const REPORT_EVERY_MS = 10_000;
const CLOSE_WITHIN_MS = 1_000;

/**
 * The connections to journal, API keys, wallets and workers. They are separate from the paywall's, so that jobs never
 * delay a payment.
 */
@Injectable()
export class AgentConnections implements OnApplicationShutdown {
  readonly #logger = new Logger('AgentJobs');
  readonly #redis: RedisClient;
  readonly #queueRedis: RedisClient;
  readonly #parts: { journal: Journal; follower: OutboxFollower; queue: WakeQueues; workers: RequestReplyClient };
  readonly keys: ApiKeyStore;
  readonly wallets: WalletDirectory;
  readonly webhookTargets: WebhookTargets;
  readonly webhookDeliveries: WebhookDeliveries;
  #reportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(@Inject(GatewayEnvironment) { redis: urls, agentJobs }: GatewayEnvironment) {
    this.#redis = connectRedis({ url: urls.redisUrl, role: 'gateway-journal', logger: REDIS_LOGGER });
    this.#queueRedis = connectRedis({ url: urls.queueRedisUrl, role: 'gateway-wake-ups', logger: REDIS_LOGGER });
    this.keys = new ApiKeyStore(this.#redis);
    this.wallets = new WalletDirectory(this.#redis);
    const { allowPrivateTargets } = agentJobs;
    this.webhookTargets = new WebhookTargets(this.#redis, 'jobs', { rules: { allowPrivateTargets } });
    this.webhookDeliveries = new WebhookDeliveries(this.#redis, 'jobs');
    this.#parts = {
      journal: new Journal({
        redis: this.#redis,
        timeoutMs: TIMEOUT_MS,
        durability: urls.durability,
        bookLimit: urls.bookLimit,
      }),
      follower: new OutboxFollower(
        connectRedis({ url: urls.redisUrl, role: 'gateway-events', use: 'blocking', logger: REDIS_LOGGER }),
        (error) => this.report(error),
      ),
      queue: new WakeQueues({ connection: this.#queueRedis, onTrouble: (error) => this.report(error) }),
      workers: new RequestReplyClient({ redisUrl: urls.queueRedisUrl, queue: PLAN_QUEUE, queueLimit: 100 }),
    };
  }

  // Private: Nest would otherwise treat the parts as providers and close them while jobs are still accepted.
  get journal(): Journal {
    return this.#parts.journal;
  }
  get follower(): OutboxFollower {
    return this.#parts.follower;
  }
  get queue(): WakeQueues {
    return this.#parts.queue;
  }
  get workers(): RequestReplyClient {
    return this.#parts.workers;
  }
  get queueRedis(): RedisClient {
    return this.#queueRedis;
  }

  /**
   * Bounds how long the directories of keys and wallets may take.
   * @throws StoreUnavailableError as the journal does
   */
  async within<T>(reading: Promise<T>): Promise<T> {
    try {
      return await withTimeout(reading, TIMEOUT_MS);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StoreUnavailableError('journal', `API keys and wallets cannot be read: ${reason}`, { cause: error });
    }
  }

  /** Logs at most one line in ten seconds, so that an outage under load does not flood the log. */
  report(error: unknown): void {
    const nowMs = performance.now();
    if (nowMs - this.#reportedAtMs < REPORT_EVERY_MS) return;
    this.#reportedAtMs = nowMs;
    this.#logger.warn(error instanceof Error ? error.message : String(error));
  }

  async onApplicationShutdown(): Promise<void> {
    const closed = closeWithin(CLOSE_WITHIN_MS, this.follower, this.queue);
    await Promise.all([closed, this.workers.close()]);
    this.#queueRedis.disconnect();
    this.#redis.disconnect();
  }
}
