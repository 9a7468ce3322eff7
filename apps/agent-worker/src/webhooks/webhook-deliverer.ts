import { setMaxListeners } from 'node:events';

import { Logger } from '@nestjs/common';
import {
  serveQueue,
  UnreadableTargetError,
  type WaitingDeliveries,
  type WebhookTarget,
  type WebhookTargets,
} from '@tollgate/agent-jobs';
import {
  createSafeFetch,
  deriveWebhookSecret,
  postEvent,
  retryDelay,
  WEBHOOKS_QUEUE,
  type ApiKeyStore,
  type CountDelivery,
  type DeliveryOutcome,
  type SafeFetch,
  type TargetRules,
  type WebhookDelivery,
  type WebhookEnvironment,
} from '@tollgate/common';
import { closeWithin, duplicateRedis, type RedisClient } from '@tollgate/redis';
import { DelayedError, type Job, type Worker } from 'bullmq';

import { TargetTurns } from './target-turns.js';

export interface WebhookDelivererOptions {
  /** To the Redis of the queues; the deliverer duplicates it for its own connections. */
  connection: RedisClient;
  targets: WebhookTargets;
  waiting: WaitingDeliveries;
  apiKeys: ApiKeyStore;
  /** The setting that webhook secrets are derived from. */
  agentSecret: string;
  rules: TargetRules;
  settings: Readonly<WebhookEnvironment>;
  /** For metrics; the duration only of events that were posted. */
  onOutcome: CountDelivery;
}

const LOCK_MS = 30_000;
/** BullMQ waits for the next delayed job in one blocking call of up to 10 seconds. */
const SILENCE_MS = 30_000;
const MAX_RESPONSE_BYTES = 65_536;
/** The share of the stop timeout for running posts; the rest is for putting aborted ones back into the queue. */
const POSTING_SHARE = 0.6;
const UNJUDGED_DELAY_MS = 5_000;

/** The error of a delivery that failed and is repeated; the list of dead letters shows its message. */
class DeliveryFailedError extends Error {
  override readonly name = 'DeliveryFailedError';

  constructor(
    reason: string,
    readonly retryAfterMs: number | null,
  ) {
    super(reason);
  }
}

/**
 * Posts events to their targets, in every worker. An event that no attempt delivers stays in the queue as a dead
 * letter.
 */
export class WebhookDeliverer {
  readonly #logger = new Logger('Webhooks');
  readonly #safe: SafeFetch;
  readonly #turns: TargetTurns;
  readonly #notes = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #connection: RedisClient | null = null;
  #worker: Worker<WebhookDelivery, DeliveryOutcome> | null = null;

  constructor(private readonly options: WebhookDelivererOptions) {
    const { rules, settings } = options;
    // Every running post listens to it.
    setMaxListeners(0, this.#stopping.signal);
    const limits = { timeoutMs: settings.webhookTimeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES };
    this.#safe = createSafeFetch({ ...rules, ...limits });
    this.#turns = new TargetTurns(settings.webhookConcurrencyPerTarget);
  }

  start(): void {
    const { connection, settings } = this.options;
    this.#connection = duplicateRedis(connection, { socketTimeout: SILENCE_MS, maxRetriesPerRequest: null });
    // The queues' connections report the state of their Redis.
    this.#connection.on('error', () => undefined);
    this.#worker = serveQueue(WEBHOOKS_QUEUE, (job, token) => this.#take(job, token), {
      connection: this.#connection,
      concurrency: settings.webhookConcurrency,
      // A delivery whose worker was killed is repeated, however often that happens: the event's id stays the same.
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      maxStalledCount: 1_000_000,
      settings: {
        backoffStrategy: (attemptsMade, _type, error) =>
          retryDelay(attemptsMade, error instanceof DeliveryFailedError ? error.retryAfterMs : null, settings),
      },
    });
    this.#worker.on('completed', (job) => this.#note(job));
    this.#worker.on('failed', (job) => job && this.#note(job));
    this.#worker.on('error', (error) => this.#logger.debug(`the queue of webhooks: ${error.message}`));
  }

  /**
   * Takes no more deliveries. Running posts get some time; those that are aborted are posted again by another worker.
   */
  async close(withinMs: number): Promise<void> {
    const timer = setTimeout(() => this.#stopping.abort(), withinMs * POSTING_SHARE);
    if (this.#worker) await closeWithin(withinMs, this.#worker);
    clearTimeout(timer);
    await Promise.all(this.#notes);
    this.#connection?.disconnect();
    await this.#safe.close();
  }

  async #take(job: Job<WebhookDelivery>, token: string | undefined): Promise<DeliveryOutcome> {
    const target = await this.#findTarget(job.data).catch((error: unknown) => {
      if (error instanceof DeliveryFailedError) return this.#fail(job, error, null);
      if (error instanceof UnreadableTargetError) {
        return this.#fail(job, new DeliveryFailedError(error.message, null), null);
      }
      this.#logger.warn(`a webhook waits for the journal's Redis: ${error instanceof Error ? error.message : ''}`);
      return undefined;
    });
    if (target === undefined) return postpone(job, token, UNJUDGED_DELAY_MS);
    if (target === null) {
      this.options.onOutcome('dropped', null);
      return 'dropped';
    }
    const turn = this.#turns.take(target.id);
    if ('delayMs' in turn) return postpone(job, token, turn.delayMs);
    try {
      return await this.#post(job, token, target);
    } finally {
      turn.end();
    }
  }

  async #post(job: Job<WebhookDelivery>, token: string | undefined, target: WebhookTarget): Promise<DeliveryOutcome> {
    const { agentSecret, targets, onOutcome } = this.options;
    const startedAtMs = performance.now();
    const posted = await postEvent({
      fetch: this.#safe.fetch,
      url: target.url,
      secret: deriveWebhookSecret(agentSecret, target.id),
      event: job.data.event,
      signal: this.#stopping.signal,
    });
    if (posted.outcome === 'broken_off') return postpone(job, token, 0);
    const durationMs = performance.now() - startedAtMs;
    if (posted.outcome !== 'failed') {
      if (posted.outcome === 'gone') await targets.disable(target, 'gone');
      onOutcome(posted.outcome, durationMs);
      return posted.outcome;
    }
    return this.#fail(job, new DeliveryFailedError(posted.reason, posted.retryAfterMs), durationMs);
  }

  #fail(job: Job<WebhookDelivery>, error: DeliveryFailedError, durationMs: number | null): never {
    const isLast = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    this.options.onOutcome(isLast ? 'dead' : 'failed', durationMs);
    if (isLast) this.#logger.warn({ msg: 'a webhook is given up', delivery: job.id, reason: error.message });
    throw error;
  }

  /**
   * Runs after the queue has recorded the result, so that it is counted once. A wrong count does no harm; no event is
   * posted twice for it.
   */
  #note(job: Job<WebhookDelivery>): void {
    const { id = '', data, finishedOn } = job;
    const { waiting } = this.options;
    const note = (finishedOn === undefined ? waiting.goOn({ id, data }) : waiting.end({ id, data }))
      .catch(() => undefined)
      .finally(() => this.#notes.delete(note));
    this.#notes.add(note);
  }

  /**
   * Null: events must not (or no longer) be posted to this target.
   * @throws UnreadableTargetError, and DeliveryFailedError while its key cannot be read
   */
  async #findTarget({ keyId, targetId }: WebhookDelivery): Promise<WebhookTarget | null> {
    const { targets, apiKeys } = this.options;
    const [target, key] = await Promise.all([targets.find({ keyId, id: targetId }), apiKeys.readState(keyId)]);
    if (!target || target.disabled !== null) return null;
    // No key is ever deleted: Redis has lost it, or its entry is damaged, and a copy may bring it back.
    if (key === 'unreadable') throw new DeliveryFailedError(`Redis has no readable API key ${keyId}.`, null);
    if (key === 'valid') return target;
    await targets.disable(target, 'key_revoked');
    return null;
  }
}

/** Puts the delivery back without counting the attempt. */
async function postpone(job: Job, token: string | undefined, delayMs: number): Promise<never> {
  await job.moveToDelayed(Date.now() + delayMs, token);
  throw new DelayedError();
}
