import {
  nameDelivery,
  toAgentJobEvent,
  type WebhookDelivery,
  type WebhookTarget,
  type WebhookTargets,
} from '@tollgate/agent-jobs';
import type { JobEvent } from '@tollgate/transactions';
import type { JobsOptions, Queue } from 'bullmq';

import type { EventConsumer } from '../events/event-consumer.js';

export interface WebhookFanOutOptions {
  targets: WebhookTargets;
  queue: Queue<WebhookDelivery>;
  /** How often a delivery is tried before it becomes a dead letter. */
  attempts: number;
}

const [HOUR_SECONDS, DAY_SECONDS] = [3_600, 86_400];

/** Puts each event into the queue once for every target that wants it. */
export class WebhookFanOut implements EventConsumer {
  readonly name = 'webhooks';

  constructor(private readonly options: WebhookFanOutOptions) {}

  async take(events: readonly JobEvent[], wallet: string): Promise<void> {
    const { targets, queue } = this.options;
    const keyIds = [...new Set(events.map(({ keyId }) => keyId))];
    const listeners = new Map(
      await Promise.all(keyIds.map(async (keyId) => [keyId, await targets.findListeners(keyId)] as const)),
    );
    const deliveries = events.flatMap((event) =>
      (listeners.get(event.keyId) ?? [])
        .filter((target) => isWanted(target, event))
        .map((target) => this.#createDelivery(target, event, wallet)),
    );
    if (deliveries.length > 0) await queue.addBulk(deliveries);
  }

  #createDelivery(target: WebhookTarget, event: JobEvent, wallet: string) {
    const data: WebhookDelivery = {
      keyId: target.keyId,
      targetId: target.id,
      event: toAgentJobEvent(event, wallet),
    };
    const opts: JobsOptions = {
      // An event that is handed on again after a crash finds its delivery here, done or not.
      jobId: nameDelivery(event, target),
      attempts: this.options.attempts,
      backoff: { type: 'custom' },
      removeOnComplete: { age: HOUR_SECONDS, count: 10_000 },
      removeOnFail: { age: 30 * DAY_SECONDS, count: 10_000 },
      stackTraceLimit: 1,
    };
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
