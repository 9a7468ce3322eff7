import { Logger } from '@nestjs/common';
import {
  nameDelivery,
  toAgentJobEvent,
  UnreadableTargetError,
  type WaitingDeliveries,
  type WebhookTarget,
  type WebhookTargets,
} from '@tollgate/agent-jobs';
import type { WebhookDelivery, WebhookEnvironment } from '@tollgate/common';
import type { JobEvent } from '@tollgate/journal';
import type { JobsOptions, Queue } from 'bullmq';

import type { WebhookDelivererOptions } from './webhook-deliverer.js';

export interface WebhookFanOutOptions {
  targets: WebhookTargets;
  queue: Queue<WebhookDelivery>;
  waiting: WaitingDeliveries;
  settings: Pick<WebhookEnvironment, 'webhookAttempts' | 'webhookWaitingPerTarget'>;
  /** For metrics: called for deliveries that are dropped because too many wait for their target. */
  onOutcome: WebhookDelivererOptions['onOutcome'];
}

interface Delivery {
  data: WebhookDelivery;
  opts: { jobId: string };
}

const [HOUR_SECONDS, DAY_SECONDS] = [3_600, 86_400];

/**
 * Puts each event into the queue once for every target that wants it, and drops the oldest ones of a target that has
 * too many.
 */
export class WebhookFanOut {
  readonly name = 'webhooks';
  readonly #logger = new Logger('Webhooks');
  /** The targets that have been reported as unreadable. */
  readonly #unreadable = new Set<string>();

  constructor(private readonly options: WebhookFanOutOptions) {}

  async take(events: readonly JobEvent[], wallet: string): Promise<void> {
    const { queue } = this.options;
    const keyIds = [...new Set(events.map(({ keyId }) => keyId))];
    const listeners = new Map(
      await Promise.all(keyIds.map(async (keyId) => [keyId, await this.#findListeners(keyId)] as const)),
    );
    const deliveries = events.flatMap((event) =>
      (listeners.get(event.keyId) ?? [])
        .filter((target) => isWanted(target, event))
        .map((target) => this.#createDelivery(target, event, wallet)),
    );
    if (deliveries.length === 0) return;
    await queue.addBulk(deliveries);
    for (const targetId of new Set(deliveries.map(({ data }) => data.targetId))) {
      await this.#bound(targetId, deliveries);
    }
  }

  /** A target that cannot be read must not keep events from the others. */
  async #findListeners(keyId: string): Promise<readonly WebhookTarget[]> {
    const { targets, unreadable } = await this.options.targets.findListeners(keyId);
    for (const { id } of unreadable) {
      if (this.#unreadable.has(id)) continue;
      this.#unreadable.add(id);
      this.#logger.error(`${new UnreadableTargetError(id).message} It receives no events.`);
    }
    return targets;
  }

  /** Counted once they are in the queue, where the fan-out of another lane may find that the target has too many. */
  async #bound(targetId: string, deliveries: readonly Delivery[]): Promise<void> {
    const { waiting, settings, onOutcome } = this.options;
    const own = deliveries.filter(({ data }) => data.targetId === targetId);
    const named = own.map(({ opts, data }) => ({ id: opts.jobId, data }));
    const dropped = await waiting.add(targetId, named, settings.webhookWaitingPerTarget);
    if (dropped === 0) return;
    for (let count = 0; count < dropped; count++) onOutcome('crowded_out', null);
    this.#logger.warn({
      msg: 'too many events wait for a webhook target: the oldest are dropped',
      target: targetId,
      dropped,
    });
  }

  #createDelivery(target: WebhookTarget, event: JobEvent, wallet: string) {
    const data: WebhookDelivery = {
      keyId: target.keyId,
      targetId: target.id,
      event: toAgentJobEvent(event, wallet),
    };
    const opts = {
      // An event that is repeated after a crash finds its delivery here, finished or not.
      jobId: nameDelivery(event, target),
      attempts: this.options.settings.webhookAttempts,
      backoff: { type: 'custom' },
      removeOnComplete: { age: HOUR_SECONDS, count: 10_000 },
      removeOnFail: { age: 30 * DAY_SECONDS, count: 10_000 },
      stackTraceLimit: 1,
    } satisfies JobsOptions;
    return { name: event.type, data, opts };
  }
}

function isWanted({ events, operations, createdAtMs }: WebhookTarget, event: JobEvent): boolean {
  return (
    event.atMs >= createdAtMs &&
    (events.length === 0 || events.includes(event.type)) &&
    (operations.length === 0 || operations.some((operation) => operation === event.operation))
  );
}
