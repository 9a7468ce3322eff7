import { randomBytes } from 'node:crypto';

import { AGENT_OPERATIONS, EVENT_TYPES, type AgentOperation, type JobEventType } from '@tollgate/protocol';

/**
 * Why a target receives no events. `gone`: it answered 410. `key_revoked`: the API key that registered it was revoked.
 */
export const DISABLED_REASONS = ['by_owner', 'gone', 'key_revoked'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** An address to which events are posted. Its secret is derived from its id, and stored nowhere. */
export interface WebhookTarget {
  /** `wh_` and 24 hexadecimal digits; not secret. */
  id: string;
  /** The API key that registered it, and whose jobs it receives events for. */
  keyId: string;
  url: string;
  /** Empty: all. */
  events: readonly JobEventType[];
  /** Empty: all. */
  operations: readonly AgentOperation[];
  /** An operator registered it: it receives events for the jobs of all keys. */
  hearsAll: boolean;
  /** On Redis's clock; earlier events are not posted. */
  createdAtMs: number;
  disabled: DisabledReason | null;
}

export function createTargetId(): string {
  return `wh_${randomBytes(12).toString('hex')}`;
}

/** @throws TypeError for text that this class did not write */
export function parseWebhookTarget(text: string): WebhookTarget {
  const value = JSON.parse(text) as Partial<Record<keyof WebhookTarget, unknown>>;
  const { id, keyId, url, events, operations, hearsAll, createdAtMs, disabled } = value;
  if (
    typeof id !== 'string' ||
    typeof keyId !== 'string' ||
    typeof url !== 'string' ||
    !isListOf(EVENT_TYPES, events) ||
    !isListOf(AGENT_OPERATIONS, operations) ||
    typeof hearsAll !== 'boolean' ||
    typeof createdAtMs !== 'number' ||
    !(disabled === null || DISABLED_REASONS.some((reason) => reason === disabled))
  ) {
    throw new TypeError('A webhook target in Redis cannot be read.');
  }
  return { id, keyId, url, events, operations, hearsAll, createdAtMs, disabled: disabled as DisabledReason | null };
}

function isListOf<T extends string>(known: readonly T[], value: unknown): value is T[] {
  return Array.isArray(value) && value.every((one) => known.some((name) => name === one));
}
