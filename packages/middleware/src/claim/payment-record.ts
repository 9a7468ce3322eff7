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

/** How often a response that was not stored is made again. */
const MAX_REPRODUCTIONS = 5;

/** What a settlement was requested with: the recipient, and the price in base units. */
export interface AskedTerms {
  readonly payTo: string;
  readonly amount: string;
  /** Unix time from which an unknown result is not awaited any more: an hour after the payment's last moment. */
  readonly closesAtMs: number;
  /** The chain's newest block before the facilitator was asked, in which the nonce was free; absent if it was not read. */
  readonly sinceBlock?: number;
  /** The nonce was taken there: another instance, or a stranger, has had it settled. The facilitator alone may know. */
  readonly wasTaken?: boolean;
}

/**
 * The stored record of a payment, as JSON. Its name is the payment's: chain, asset, payer and nonce, so that whatever
 * moves the money moves it for this record alone. Each arrow is one atomic write of the request that holds the lease;
 * `*` is a process that dies there, after which the lease ends and the next request goes on from the record.
 *
 *     none --claim--> claimed --ask--> settling --sell--> sold
 *                        |               |  |  '--settle--> settled --sell--> sold
 *                        '---- forget ---'  '--owe--> owed
 *
 * - `none`: the facilitator verifies. Of a payment that was used, another instance may have the answer: 503, not 402.
 * - `claimed`: the handler runs. `*`: nothing was asked, so the payment can be used again.
 * - `settling`: written before the facilitator is asked, with the terms, the chain's newest block and the answer that the
 *   handler made. `*` before, within or after the question: the same request gets that answer (the handler does not run
 *   again) once the facilitator, under the same key, or the chain says that it is paid. Paid by the chain: the nonce is
 *   used after that block, and the transfer that it caused is the promised one. Failed for certain: the record is
 *   forgotten, and the client may pay anew. Neither: 503 until `closesAtMs`, then the owner is told, and only then
 *   `owed` is written. `*` in between: the owner is told again.
 * - `settled`: it is known to be paid, and its payer is to get an answer: the handler was to run after it or failed; the
 *   client of a payment without a secret had left; or what was sent is not stored, and its connection may have broken: a GET
 *   with its secret is answered by the handler again, five times. `*`: the next request gets the answer without a question.
 * - `sold`: written before the first byte is sent, with the answer. `*`: the answer is replayed.
 * - `owed`: 410. The money may have moved for nothing.
 */
export interface ClaimRecord {
  readonly state: 'claimed' | 'settling' | 'settled' | 'sold' | 'owed';
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
  /** How often a response was sent that is not stored, and may be made again. */
  readonly sent?: number;
  /** The facilitator's settlement response, for a settled payment. */
  readonly receipt?: SettleResponse;
  /** The response: of a sold payment, if it may be replayed; before that, what the handler made, if it is small enough. */
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
export type Standing = 'open' | 'own' | 'busy' | 'paused' | 'answered' | 'not_kept' | 'owed' | 'other_request' | 'used';

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
  if (record.state === 'owed') return 'owed';
  if ((record.sent ?? 0) > MAX_REPRODUCTIONS) return 'not_kept';
  // Such a payment is not verified again, and a router may distinguish requests that count as the same here.
  return showing.isEnough || record.answer !== undefined ? 'own' : 'other_request';
}

/** How long the payment buys nothing yet. */
export function pausedMsOf({ pause }: ClaimRecord, nowMs: number): number {
  return pause === undefined ? 0 : Math.max(0, pause.untilMs - nowMs);
}

/** How long a record is stored after it is written. */
export function ttlMsOf(record: ClaimRecord, times: ClaimTimes): number {
  return lifeMsOf(record, times) + (record.pause?.forMs ?? 0);
}

function lifeMsOf({ state, secret, asked }: ClaimRecord, { leaseMs, keepMs }: ClaimTimes): number {
  if (state === 'claimed') return 2 * leaseMs;
  if (state === 'settling') return Math.max(0, (asked?.closesAtMs ?? 0) - Date.now()) + keepMs;
  return secret === null && state === 'settled' ? UNPROVEN_MS : keepMs;
}
