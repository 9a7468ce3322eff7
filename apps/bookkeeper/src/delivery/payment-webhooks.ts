import { setMaxListeners } from 'node:events';

import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import {
  boundWaiting,
  countDeliveries,
  disablePaymentTarget,
  listDueTargets,
  readDue,
  recordTried,
  trimDead,
  trimOutgoingEvents,
  type BookWriter,
  type DueDelivery,
  type PaymentTarget,
  type TriedDelivery,
} from '@tollgate/book';
import {
  ApiKeyStore,
  createDeliveryCounter,
  createSafeFetch,
  keepFresh,
  observeGauge,
  postEvent,
  retryDelay,
  type CountDelivery,
  type SafeFetch,
} from '@tollgate/common';
import { withTimeout } from '@tollgate/redis';
import { Registry } from 'prom-client';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookChanges } from '../drain/book-changes.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { runRepeatedly } from './run-repeatedly.js';
import { WebhookSecrets } from './webhook-secrets.js';

const MAX_RESPONSE_BYTES = 65_536;
const KEYS_WITHIN_MS = 3_000;
/** For each concurrent post of a target: what is posted before the results are written, together. */
const BATCH_FACTOR = 8;
const TRIM_EVERY_MS = 60_000;
const DEAD_LETTERS = { days: 30, most: 10_000 };
const COUNTED_EVERY_MS = 5_000;

type DueTarget = Pick<PaymentTarget, 'id' | 'keyId' | 'url'>;

/**
 * Posts the events of payments to the webhook targets. What waits is in the book, written with the event, so a crash
 * loses none; a result that is not written is posted again, with the same id.
 */
@Injectable()
export class PaymentWebhooks implements OnApplicationShutdown {
  readonly #logger = new Logger('Webhooks');
  readonly #safe: SafeFetch;
  readonly #apiKeys: ApiKeyStore;
  readonly #count: CountDelivery;
  readonly #serving = new Map<string, Promise<void>>();
  #writer: BookWriter | null = null;
  #trimmedAtMs = 0;

  constructor(
    @Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment,
    @Inject(BookkeeperConnections) { commands }: BookkeeperConnections,
    @Inject(BookChanges) private readonly changes: BookChanges,
    @Inject(WebhookSecrets) private readonly secrets: WebhookSecrets,
    @Inject(Registry) registry: Registry,
  ) {
    const { webhooks, targets } = environment;
    const limits = { timeoutMs: webhooks.webhookTimeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES };
    this.#safe = createSafeFetch({ allowPrivateTargets: targets.allowPrivateTargets, ...limits });
    this.#apiKeys = new ApiKeyStore(commands);
    this.#count = createDeliveryCounter(
      registry,
      'tollgate_payment_webhook_deliveries_total',
      'tollgate_payment_webhook_duration_seconds',
    );
    const counts = keepFresh(COUNTED_EVERY_MS, () =>
      this.#writer ? countDeliveries(this.#writer.database) : Promise.resolve({ waiting: 0, dead: 0 }),
    );
    const waiting = 'Deliveries of payment events that wait for their turn or for the next attempt.';
    observeGauge(registry, 'tollgate_payment_webhook_waiting', waiting, async () => (await counts()).waiting);
    const dead = 'Deliveries of payment events that were given up.';
    observeGauge(registry, 'tollgate_payment_webhook_dead_letters', dead, async () => (await counts()).dead);
  }

  /** Until the signal is aborted. @throws DeposedError */
  async run(writer: BookWriter, signal: AbortSignal): Promise<void> {
    // Every running post listens to it.
    setMaxListeners(0, signal);
    this.#writer = writer;
    try {
      await runRepeatedly('Webhooks', this.changes, signal, async () => {
        const due = await listDueTargets(writer.database);
        for (const target of due) if (!this.#serving.has(target.id)) this.#start(writer, target, signal);
        await this.#trim(writer);
      });
    } finally {
      await Promise.allSettled(this.#serving.values());
      this.#writer = null;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#safe.close();
  }

  /** One target never waits for another. */
  #start(writer: BookWriter, target: DueTarget, signal: AbortSignal): void {
    const serving = this.#serve(writer, target, signal)
      .catch((error: unknown) => {
        // The next pass begins again, or finds that this bookkeeper was deposed.
        this.#logger.debug(`deliveries to ${target.id} wait: ${error instanceof Error ? error.message : ''}`);
      })
      .finally(() => this.#serving.delete(target.id));
    this.#serving.set(target.id, serving);
  }

  async #serve(writer: BookWriter, target: DueTarget, signal: AbortSignal): Promise<void> {
    const { webhooks } = this.environment;
    while (!signal.aborted) {
      const key = await withTimeout(this.#apiKeys.readState(target.keyId), KEYS_WITHIN_MS);
      if (key === 'revoked') return disablePaymentTarget(writer, target.id, 'key_revoked');
      const dropped = await boundWaiting(writer, target.id, webhooks.webhookWaitingPerTarget);
      if (dropped > 0) this.#reportCrowd(target, dropped);
      // No key is ever deleted: Redis has lost it, or its entry is damaged, and a copy may bring it back.
      if (key === 'unreadable') throw new Error(`Redis has no readable API key ${target.keyId}`);
      const atOnce = Math.min(
        webhooks.webhookConcurrencyPerTarget,
        Math.max(1, Math.floor(webhooks.webhookConcurrency / this.#serving.size)),
      );
      const due = await readDue(writer.database, target.id, atOnce * BATCH_FACTOR);
      if (due.length === 0) return;
      if (!(await this.#postAll(writer, target, due, atOnce, signal))) return;
    }
  }

  /** False: the target is gone, or this process is stopping. */
  async #postAll(
    writer: BookWriter,
    target: DueTarget,
    due: readonly DueDelivery[],
    atOnce: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const tried: TriedDelivery[] = [];
    const queue = [...due];
    let isGone = false;
    const postInTurn = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined && !isGone && !signal.aborted; next = queue.shift()) {
        const result = await this.#post(target, next, signal);
        if (result === 'gone') isGone = true;
        else if (result !== null) tried.push(result);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, postInTurn));
    if (tried.length > 0) await recordTried(writer, target.id, tried);
    if (isGone) await disablePaymentTarget(writer, target.id, 'gone');
    return !isGone && !signal.aborted;
  }

  /** Null: broken off, and to be posted again. */
  async #post(
    target: DueTarget,
    { number, event, attempts }: DueDelivery,
    signal: AbortSignal,
  ): Promise<TriedDelivery | 'gone' | null> {
    const { webhooks } = this.environment;
    const startedAtMs = performance.now();
    const posted = await postEvent({
      ...{ fetch: this.#safe.fetch, url: target.url, secret: this.secrets.of(target.id), event, signal },
    });
    if (posted.outcome === 'broken_off') return null;
    const durationMs = performance.now() - startedAtMs;
    if (posted.outcome !== 'failed') {
      this.#count(posted.outcome, durationMs);
      return posted.outcome === 'gone' ? 'gone' : { number, isDelivered: true };
    }
    const { reason, retryAfterMs } = posted;
    const isLast = attempts + 1 >= webhooks.webhookAttempts;
    this.#count(isLast ? 'dead' : 'failed', durationMs);
    if (isLast) this.#logger.warn({ msg: 'a webhook is given up', target: target.id, event: event.id, reason });
    return {
      ...{ number, isDelivered: false, reason },
      retryAfterMs: isLast ? null : retryDelay(attempts + 1, retryAfterMs, webhooks),
    };
  }

  #reportCrowd({ id }: DueTarget, dropped: number): void {
    for (let count = 0; count < dropped; count++) this.#count('crowded_out', null);
    const msg = 'too many events wait for a webhook target: the oldest are dropped';
    this.#logger.warn({ msg, target: id, dropped });
  }

  async #trim(writer: BookWriter): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#trimmedAtMs < TRIM_EVERY_MS) return;
    this.#trimmedAtMs = nowMs;
    await trimDead(writer, DEAD_LETTERS);
    await trimOutgoingEvents(writer, this.environment.events.bookEventsKept);
  }
}
