import { Logger } from '@nestjs/common';
import { keepFresh, observeGauge } from '@tollgate/common';
import { ApiKeyStore, type TargetRules } from '@tollgate/http';
import type { RedisClient } from '@tollgate/redis';
import type { Registry } from 'prom-client';

import { createDeliveryCounter, type CountDelivery, type WebhookMetrics } from './delivery-counter.js';
import type { WebhookSubject } from './subject.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { WebhookPoster } from './webhook-poster.js';
import { isWanted, UnreadableTargetError, WebhookTargets, type Announced } from './webhook-targets.js';
import type { WebhookEnvironment } from './webhook.environment.js';

export interface WebhooksOptions {
  /** The journal's, which has the API keys; it fails commands while it is down. */
  readonly redis: RedisClient;
  readonly subject: WebhookSubject;
  /** The secret with which the events for a target are signed. */
  readonly secretOf: (targetId: string) => string;
  readonly rules: TargetRules;
  readonly settings: Readonly<WebhookEnvironment>;
  readonly registry: Registry;
  readonly metrics: WebhookMetrics;
}

const COUNTED_EVERY_MS = 5_000;

/** From the events of one subject to its targets: what is taken waits in Redis, and is posted until it is delivered. */
export class Webhooks {
  readonly targets: WebhookTargets;
  readonly deliveries: WebhookDeliveries;
  readonly #logger = new Logger('Webhooks');
  readonly #poster: WebhookPoster;
  readonly #count: CountDelivery;
  /** The targets that have been reported as unreadable. */
  readonly #unreadable = new Set<string>();

  constructor(private readonly options: WebhooksOptions) {
    const { redis, subject, registry, metrics, rules } = options;
    this.targets = new WebhookTargets(redis, subject, { rules });
    this.deliveries = new WebhookDeliveries(redis, subject);
    this.#count = createDeliveryCounter(registry, metrics);
    this.#poster = new WebhookPoster({
      ...options,
      targets: this.targets,
      deliveries: this.deliveries,
      apiKeys: new ApiKeyStore(redis),
      onOutcome: this.#count,
    });
    this.#observe(registry, metrics);
  }

  /**
   * Adds each event for every target that wants it. Taking events again adds nothing to what still waits.
   * @param moved the position of their source before them and behind them, which is stored with them
   */
  async take(events: readonly Announced[], moved?: { from: number; to: number }): Promise<void> {
    const keyIds = [...new Set(events.map(({ keyId }) => keyId))];
    const listeners = new Map(
      await Promise.all(keyIds.map(async (keyId) => [keyId, await this.#findListeners(keyId)] as const)),
    );
    const added = events.flatMap((announced) =>
      (listeners.get(announced.keyId) ?? [])
        .filter((target) => isWanted(target, announced))
        .map((target) => ({ target, announced })),
    );
    if (added.length === 0 && moved === undefined) return;
    const { webhookWaitingPerTarget: perTarget, webhookKeptInAll: inAll } = this.options.settings;
    for (const { target, dropped } of await this.deliveries.add(added, { perTarget, inAll }, moved)) {
      for (let count = 0; count < dropped; count++) this.#count('crowded_out');
      const msg = 'too many events are kept for a webhook target: the oldest are dropped';
      this.#logger.warn({ msg, target, dropped });
    }
    if (added.length > 0) this.#poster.wake();
  }

  /** The secret of a target, which its owner gets once. */
  secretOf(targetId: string): string {
    return this.options.secretOf(targetId);
  }

  /** Posts what waits until the signal is aborted; posts that run then are broken off after the grace. */
  run(signal: AbortSignal, graceMs?: number): Promise<void> {
    return this.#poster.run(signal, graceMs);
  }

  close(): Promise<void> {
    return this.#poster.close();
  }

  /** A target that cannot be read must not keep events from the others. */
  async #findListeners(keyId: string | null) {
    const { targets, unreadable } = await this.targets.findListeners(keyId);
    for (const { id } of unreadable) {
      if (this.#unreadable.has(id)) continue;
      this.#unreadable.add(id);
      this.#logger.error(`${new UnreadableTargetError(id).message} It receives no events.`);
    }
    return targets;
  }

  #observe(registry: Registry, metrics: WebhookMetrics): void {
    const counts = keepFresh(COUNTED_EVERY_MS, async () => {
      const { targets } = await this.targets.list();
      return Promise.all(targets.map((target) => this.deliveries.count(target)));
    });
    const sum = async (of: 'waiting' | 'dead') => (await counts()).reduce((all, count) => all + count[of], 0);
    const waiting = 'Deliveries that wait for their turn or for the next attempt.';
    observeGauge(registry, metrics.waiting, waiting, () => sum('waiting'));
    observeGauge(registry, metrics.dead, 'Deliveries that were given up.', () => sum('dead'));
  }
}
