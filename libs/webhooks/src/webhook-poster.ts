import { setMaxListeners } from 'node:events';

import { Logger } from '@nestjs/common';
import { RareErrors } from '@tollgate/common';
import { createSafeFetch, type ApiKeyStore, type SafeFetch, type TargetRules } from '@tollgate/http';
import { Wakeable } from '@tollgate/journal';

import type { CountDelivery } from './delivery-counter.js';
import { postEvent, retryDelay } from './post-event.js';
import type { Delivery, WebhookDeliveries } from './webhook-deliveries.js';
import type { TargetName, WebhookTarget, WebhookTargets } from './webhook-targets.js';
import type { WebhookEnvironment } from './webhook.environment.js';

export interface WebhookPosterOptions {
  readonly targets: WebhookTargets;
  readonly deliveries: WebhookDeliveries;
  readonly apiKeys: ApiKeyStore;
  /** The secret with which the events for a target are signed. */
  readonly secretOf: (targetId: string) => string;
  readonly rules: TargetRules;
  readonly settings: Readonly<WebhookEnvironment>;
  readonly onOutcome: CountDelivery;
}

/** What another process has added, and what was given back, is looked for this often. */
const LOOK_EVERY_MS = 1_000;
/** Beyond the time of a post: for writing its result. */
const LEASE_MARGIN_MS = 5_000;
const MAX_RESPONSE_BYTES = 65_536;

/**
 * Posts what is due to the targets of one subject, in any number of processes. A delivery is claimed for the time of its
 * post: that of a process that is killed, or whose result cannot be written, is posted again, with the same id.
 */
export class WebhookPoster {
  readonly #logger = new Logger('Webhooks');
  readonly #safe: SafeFetch;
  readonly #wakeable = new Wakeable();
  readonly #troubles = new RareErrors();
  /** The posts that run, by target. */
  readonly #running = new Map<string, number>();
  readonly #posts = new Set<Promise<void>>();
  /** Targets that cannot be judged for now, and when to look at them again. */
  readonly #restUntilMs = new Map<string, number>();

  constructor(private readonly options: WebhookPosterOptions) {
    const { rules, settings } = options;
    const limits = { timeoutMs: settings.webhookTimeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES };
    this.#safe = createSafeFetch({ ...rules, ...limits, ignoresBody: true });
  }

  /** Something may be due. */
  wake(): void {
    this.#wakeable.wake();
  }

  /** Claims nothing once the signal is aborted; posts that run then are broken off after the grace, and given back. */
  async run(signal: AbortSignal, graceMs = 0): Promise<void> {
    const breaking = new AbortController();
    // Every running post listens to it.
    setMaxListeners(0, breaking.signal);
    while (!signal.aborted) {
      const nextInMs = await this.#look(signal, breaking.signal).catch((error: unknown) => this.#report('', error));
      await this.#wakeable.sleep(Math.min(nextInMs, LOOK_EVERY_MS), signal);
    }
    const timer = setTimeout(() => breaking.abort(), graceMs);
    await Promise.allSettled(this.#posts);
    clearTimeout(timer);
  }

  close(): Promise<void> {
    return this.#safe.close();
  }

  /** Returns how long until something is due that is not yet. */
  async #look(signal: AbortSignal, breaking: AbortSignal): Promise<number> {
    const { settings, deliveries } = this.options;
    const { due, nextInMs } = await deliveries.listDue();
    for (const name of due) {
      const free = Math.min(
        settings.webhookConcurrencyPerTarget - (this.#running.get(name.id) ?? 0),
        settings.webhookConcurrency - this.#posts.size,
      );
      if (free <= 0) continue;
      const target = await this.#judge(name);
      if (target === null || signal.aborted) continue;
      const claimed = await deliveries.claim(target, free, settings.webhookTimeoutMs + LEASE_MARGIN_MS);
      for (const delivery of claimed) this.#start(target, delivery, breaking);
    }
    return nextInMs;
  }

  /** Null: nothing must be posted to it, or nobody can tell for now. */
  async #judge(name: TargetName): Promise<WebhookTarget | null> {
    if ((this.#restUntilMs.get(name.id) ?? 0) > performance.now()) return null;
    this.#restUntilMs.delete(name.id);
    const { targets, apiKeys } = this.options;
    try {
      const [target, key] = await Promise.all([targets.find(name), apiKeys.readState(name.keyId)]);
      if (target === null) return null;
      const fault = target.disabled ?? (key === 'revoked' ? 'key_revoked' : null);
      if (fault !== null) {
        this.#countDropped((await targets.disable(target, fault)) ?? 0);
        return null;
      }
      if (key === 'valid') return target;
      // No key is ever deleted: Redis has lost it, or its entry is damaged, and a copy may bring it back.
      throw new Error(`Redis has no readable API key ${name.keyId}`);
    } catch (error) {
      this.#report(name.id, error);
      this.#restUntilMs.set(name.id, performance.now() + LOOK_EVERY_MS);
      return null;
    }
  }

  #start(target: WebhookTarget, delivery: Delivery, breaking: AbortSignal): void {
    this.#running.set(target.id, (this.#running.get(target.id) ?? 0) + 1);
    const post = this.#post(target, delivery, breaking)
      .catch((error: unknown) => void this.#report(target.id, error))
      .finally(() => {
        this.#posts.delete(post);
        const others = (this.#running.get(target.id) ?? 1) - 1;
        if (others === 0) this.#running.delete(target.id);
        else this.#running.set(target.id, others);
        this.wake();
      });
    this.#posts.add(post);
  }

  async #post(target: WebhookTarget, delivery: Delivery, signal: AbortSignal): Promise<void> {
    const { deliveries, targets, secretOf, settings, onOutcome } = this.options;
    const { event, attempts } = delivery;
    const startedAtMs = performance.now();
    const posted = await postEvent({
      fetch: this.#safe.fetch,
      url: target.url,
      secret: secretOf(target.id),
      event,
      signal,
    });
    const durationMs = performance.now() - startedAtMs;
    switch (posted.outcome) {
      case 'broken_off':
        return deliveries.retry(target, delivery, 0);
      case 'delivered':
        await deliveries.end(target, delivery);
        return onOutcome('delivered', durationMs);
      case 'gone':
        // This one is among those that are dropped.
        this.#countDropped(((await targets.disable(target, 'gone', event.id)) ?? 1) - 1);
        return onOutcome('gone', durationMs);
      case 'failed': {
        const { reason, retryAfterMs } = posted;
        const failed: Delivery = { ...delivery, attempts: attempts + 1 };
        if (failed.attempts < settings.webhookAttempts) {
          await deliveries.retry(target, failed, retryDelay(failed.attempts, retryAfterMs, settings));
          return onOutcome('failed', durationMs);
        }
        await deliveries.giveUp(target, failed, reason);
        this.#logger.warn({ msg: 'a webhook is given up', target: target.id, event: event.id, reason });
        return onOutcome('dead', durationMs);
      }
    }
  }

  #countDropped(dropped: number): void {
    for (let count = 0; count < dropped; count++) this.options.onOutcome('dropped');
  }

  /** Once a minute for each target. Returns how long to wait. */
  #report(about: string, error: unknown): number {
    const reason = this.#troubles.takeReason(about, error);
    if (reason !== null) this.#logger.warn(`webhooks${about === '' ? '' : ` for ${about}`} wait: ${reason}`);
    return LOOK_EVERY_MS;
  }
}
