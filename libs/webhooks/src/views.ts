import type { FailedDelivery, WebhookDeliveries } from './webhook-deliveries.js';
import type { WebhookTarget } from './webhook-targets.js';

/** A target as its owner sees it; an empty list of events means all. `disabled`: why it receives none. */
export type TargetView = Pick<WebhookTarget, 'id' | 'keyId' | 'url' | 'events' | 'disabled'> & {
  readonly createdAt: string;
};

/** With what waits, and what was dropped because too much waited. */
export type CountedTargetView = TargetView & Pick<TargetCounts, 'waiting' | 'crowdedOut'>;
type TargetCounts = Awaited<ReturnType<WebhookDeliveries['count']>>;

export type LetterView = Pick<FailedDelivery, 'attempts' | 'reason' | 'event'> & {
  readonly webhookId: string;
  readonly failedAt: string;
};

export function describeTarget({ id, keyId, url, events, createdAtMs, disabled }: WebhookTarget): TargetView {
  return { id, keyId, url, events, createdAt: new Date(createdAtMs).toISOString(), disabled };
}

export function describeLetter({ target, attempts, failedAtMs, reason, event }: FailedDelivery): LetterView {
  return { webhookId: target.id, attempts, failedAt: new Date(failedAtMs).toISOString(), reason, event };
}
