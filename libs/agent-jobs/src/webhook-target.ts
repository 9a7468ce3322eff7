import { randomBytes } from 'node:crypto';

import { AGENT_OPERATIONS, EVENT_TYPES, type AgentOperation, type JobEventType } from '@tollgate/protocol';

/** Why a target gets nothing. `gone`: it answered 410. `key_revoked`: the API key that registered it is. */
export const DISABLED_REASONS = ['by_owner', 'gone', 'key_revoked'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Somebody else's address that events are posted to. Its secret is derived from its id, and kept nowhere. */
export interface WebhookTarget {
  /** `wh_` and 24 hexadecimal digits: no secret. */
  id: string;
  /** The API key that registered it, and whose jobs it hears of. */
  keyId: string;
  url: string;
  /** None named: all. */
  events: readonly JobEventType[];
  /** None named: all. */
  operations: readonly AgentOperation[];
  /** Hears of the jobs of all keys: an operator registered it. */
  hearsAll: boolean;
  /** On Redis's clock; what happened before is not posted. */
  createdAtMs: number;
  disabled: DisabledReason | null;
}

export function createTargetId(): string {
  return `wh_${randomBytes(12).toString('hex')}`;
}

/** @throws TypeError for what is none of ours */
export function parseTarget(text: string): WebhookTarget {
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
