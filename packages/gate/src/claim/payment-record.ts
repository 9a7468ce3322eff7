import type { SettleResponse } from '@tollgate/protocol';

import type { PackedAnswer } from '../answer/answer.js';

export interface ClaimTimes {
  /** How long a claim outlives the process that holds it. */
  readonly leaseMs: number;
  /** How long it is recorded what a payment has bought. */
  readonly keepMs: number;
}

/**
 * How long a payment without secret can be presented again: its settlement is on the chain, where anyone can read it.
 */
const UNPROVEN_MS = 15 * 60_000;

/** What a settlement was requested with: the recipient, and the price in base units. */
export interface AskedTerms {
  readonly payTo: string;
  readonly amount: string;
}

/** The stored record of a payment, as JSON. */
export interface ClaimRecord {
  /**
   * `claimed`: a request sells for it, and settlement was not requested. `asked`: it may be settled. `settled`: it is,
   * but no response was delivered. `sold`: it is, and its response was sent.
   */
  readonly state: 'claimed' | 'asked' | 'settled' | 'sold';
  /** The key under which every request settles the payment. */
  readonly idempotencyKey: string;
  /** Digest of the request that is paid for, and of the payment itself. */
  readonly request: string;
  /** Digest of a value that only the payer knows; null if it sent none. */
  readonly secret: string | null;
  /** The claim of a request: a random name, and its end by the store's clock. */
  readonly owner: string;
  readonly leasedUntilMs: number;
  /** What it pays for was busy: until when it buys nothing, by the store's clock, and for how long that is. */
  readonly pause?: { readonly untilMs: number; readonly forMs: number } | undefined;
  /** The terms of the first settlement that was requested. */
  readonly asked?: AskedTerms;
  /** The facilitator's settlement response, for a settled payment. */
  readonly receipt?: SettleResponse;
  /** The stored response of a sold payment, if it may be replayed. */
  readonly answer?: PackedAnswer;
}

/** The values of a request with a payment that are compared with a record. */
export interface Showing {
  /** Name of the payment in the store. */
  readonly name: string;
  readonly request: string;
  readonly secret: string | null;
  /** Whether the signed amount is at least the price. */
  readonly isEnough: boolean;
}

/** The standing of a presented payment. `open`: it can be claimed, if it is valid. */
export type Standing = 'open' | 'own' | 'busy' | 'paused' | 'answered' | 'not_kept' | 'other_request' | 'used';

/** `own`: a settlement was begun for this very request, and its result is unknown or its response was not delivered. */
export function standingOf(record: ClaimRecord | null, showing: Showing, nowMs: number): Standing {
  if (record === null) return 'open';
  if (record.state !== 'sold' && record.leasedUntilMs > nowMs) return 'busy';
  if (record.state !== 'sold' && pausedMsOf(record, nowMs) > 0) return 'paused';
  if (record.state === 'claimed') return 'open';
  const isSameRequest = record.request === showing.request;
  const knowsSecret = record.secret !== null && record.secret === showing.secret;
  if (knowsSecret && !isSameRequest) return 'other_request';
  if (record.state === 'sold') return knowsSecret ? (record.answer ? 'answered' : 'not_kept') : 'used';
  // Without a secret, the first request to present the payment gets the response, since none was delivered.
  if (!isSameRequest || (!knowsSecret && record.secret !== null)) return 'used';
  // Such a payment is not verified again, and a router may distinguish requests that count as the same here.
  return showing.isEnough ? 'own' : 'other_request';
}

/** How long the payment buys nothing yet. */
export function pausedMsOf({ pause }: ClaimRecord, nowMs: number): number {
  return pause === undefined ? 0 : Math.max(0, pause.untilMs - nowMs);
}

/** How long a record is stored after it is written. */
export function ttlMsOf(record: ClaimRecord, times: ClaimTimes): number {
  return lifeMsOf(record, times) + (record.pause?.forMs ?? 0);
}

function lifeMsOf({ state, secret }: ClaimRecord, { leaseMs, keepMs }: ClaimTimes): number {
  if (state === 'claimed') return 2 * leaseMs;
  return secret === null && state !== 'sold' ? UNPROVEN_MS : keepMs;
}
