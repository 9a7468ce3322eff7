import type { SettleResponse } from '@tollgate/protocol';

import type { StoredAnswer } from './sold-answer.js';

export interface ClaimTimes {
  /** How long a claim outlives the process that held it. */
  readonly leaseMs: number;
  /** How long is known what a payment has bought. */
  readonly keepMs: number;
}

/** How long what nobody can prove to be his is good for: a settlement is on the chain for all to read. */
const UNPROVEN_MS = 15 * 60_000;

/** What is kept of a payment, as JSON. */
export interface PaymentRecord {
  /**
   * `claimed`: some request sells for it, and nothing was asked of the facilitator. `asked`: it may be settled. `settled`: it is, and
   * nobody has got its answer. `sold`: it is, and its answer was given.
   */
  readonly state: 'claimed' | 'asked' | 'settled' | 'sold';
  /** Under which it is settled, whoever asks, and however often. */
  readonly idempotencyKey: string;
  /** Digest of the request that it is sold for, and of the payment itself. */
  readonly request: string;
  /** Digest of what only the payer knows; null where he gave nothing of the kind. */
  readonly secret: string | null;
  /** Of the hold that a request has on it: a random name, and until when by the store's clock. */
  readonly owner: string;
  readonly leasedUntilMs: number;
  /** What the facilitator said of a settled one. */
  readonly receipt?: SettleResponse;
  /** Of a sold one, where it may be given again. */
  readonly answer?: StoredAnswer;
}

/** A request with a payment, as far as it is compared with a record. */
export interface Showing {
  /** Of the payment, in the store. */
  readonly name: string;
  readonly request: string;
  readonly secret: string | null;
  /** What was signed is at least the price. */
  readonly isEnough: boolean;
}

/** What a payment that is shown can have. `open`: it is good for a claim, if it is good at all. */
export type Standing = 'open' | 'own' | 'busy' | 'answered' | 'not_kept' | 'other_request' | 'used';

/** `own`: a settlement that was begun for this very request, whose end nobody knows, or whose answer nobody got. */
export function standingOf(record: PaymentRecord | null, showing: Showing, nowMs: number): Standing {
  if (record === null) return 'open';
  if (record.state !== 'sold' && record.leasedUntilMs > nowMs) return 'busy';
  if (record.state === 'claimed') return 'open';
  const isSameRequest = record.request === showing.request;
  const knowsSecret = record.secret !== null && record.secret === showing.secret;
  if (knowsSecret && !isSameRequest) return 'other_request';
  if (record.state === 'sold') return knowsSecret ? (record.answer ? 'answered' : 'not_kept') : 'used';
  // Without a secret whoever shows it first has it: what it bought was given to nobody.
  if (!isSameRequest || (!knowsSecret && record.secret !== null)) return 'used';
  // Nobody verifies it once more, and a router may go by more than what makes a request the same.
  return showing.isEnough ? 'own' : 'other_request';
}

/** How long a record is kept from when it is written. */
export function ttlMsOf({ state, secret }: PaymentRecord, { leaseMs, keepMs }: ClaimTimes): number {
  if (state === 'claimed') return 2 * leaseMs;
  return secret === null && state !== 'sold' ? UNPROVEN_MS : keepMs;
}
