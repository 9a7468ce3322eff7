import { bucketEventsKey } from '@tollgate/book-events';

import { CLOCK_SKEW_MS, type LedgerRunner } from './continuity.js';
import { birthKey, bucketOf, entryKey } from './keys.js';
import { LEDGER_SCRIPTS } from './ledger-scripts.js';
import { OutboxFullError } from './outbox.js';
import { locatePayment, readPaymentId, type EntrySlot, type PaymentId } from './payment-id.js';
import type { ClaimRequest, ClaimResult, PaymentCandidate } from './types.js';

/**
 * Entries live this much longer than the window, so that a payment inside its window is never missing from the ledger.
 */
export const EXPIRY_SLACK_MS = 60_000;
export const MAX_RELEASES = 5;
/** How often an upstream may be too busy for one payment. */
export const MAX_PAUSES = 50;
/** How late a client may come back after a pause, during which the time to redeem its payment may have ended. */
export const PAUSE_SLACK_MS = 900_000;

type Located = PaymentCandidate & EntrySlot;

/**
 * Claims one of a transaction's payments. All transfers of a transaction share one entry and are decided in one script.
 * Authorizations have their own entries (and cluster slots) and are tried one after the other, known payments first, so
 * that a retry finds its payment before it takes another.
 * @param outboxLimit how many events a bucket may have for a new payment to be taken; null: any number
 * @throws OutboxFullError
 */
export async function claimPayment(
  runner: LedgerRunner,
  request: ClaimRequest,
  outboxLimit: number | null,
): Promise<ClaimResult> {
  const entries = groupByEntry(request.candidates);
  assertKey(request.owner, 'owner');
  assertKey(request.fingerprint, 'fingerprint');
  if (request.retryKey !== null) assertKey(request.retryKey, 'retryKey');

  const [only] = entries;
  if (entries.length === 1 && only) {
    return (await claimEntry(runner, request, only, 'all', outboxLimit))?.result ?? { outcome: 'used' };
  }
  for (const candidates of entries) {
    const known = await claimEntry(runner, request, candidates, 'known', null);
    if (known) return known.result;
  }
  let verdict: ClaimResult = { outcome: 'conflict' };
  for (const candidates of entries) {
    const claim = await claimEntry(runner, request, candidates, 'all', outboxLimit);
    if (claim && (claim.isOwn || claim.result.outcome === 'late')) return claim.result;
    if (claim && weight(claim.result) > weight(verdict)) verdict = claim.result;
  }
  return verdict;
}

/** Ranks verdicts: of several, the one that is best for the payer is returned. */
function weight({ outcome }: ClaimResult): number {
  return ['conflict', 'used', 'refused', 'paused', 'busy', 'answered'].indexOf(outcome);
}

function groupByEntry(candidates: readonly PaymentCandidate[]): [Located, ...Located[]][] {
  const entries = new Map<string, [Located, ...Located[]]>();
  for (const candidate of candidates) {
    const located = { ...candidate, ...locatePayment(candidate.id) };
    const group = entries.get(located.entry);
    if (group) group.push(located);
    else entries.set(located.entry, [located]);
  }
  if (entries.size === 0) throw new TypeError('a claim needs at least one payment');
  return [...entries.values()];
}

interface EntryClaim {
  result: ClaimResult;
  /**
   * The payment belongs to the request, which has just claimed it or owns its retry key, so the request must not take
   * another one.
   */
  isOwn: boolean;
}

async function claimEntry(
  runner: LedgerRunner,
  request: ClaimRequest,
  candidates: [Located, ...Located[]],
  scope: 'all' | 'known',
  outboxLimit: number | null,
): Promise<EntryClaim | null> {
  const { entry, id } = candidates[0];
  const { chainId } = id;
  const bucket = bucketOf(entry);
  const [outcome, slot = '', number, until] = await runner.run(
    LEDGER_SCRIPTS.claim,
    [birthKey(bucket, chainId), entryKey(bucket, entry), bucketEventsKey(bucket)],
    [
      request.owner,
      request.fingerprint,
      request.retryKey ?? '',
      request.leaseMs,
      Math.floor(request.deadlineMs),
      CLOCK_SKEW_MS,
      EXPIRY_SLACK_MS,
      MAX_RELEASES,
      MAX_PAUSES,
      scope,
      outboxLimit ?? '',
      request.keyReserves === false ? 0 : 1,
      ...candidates.flatMap((one) => [one.slot, one.blockNumber, Math.floor(one.minedAtMs), one.windowMs ?? '']),
    ],
    { chainId, blockNumber: request.headBlockNumber },
  );
  if (outcome === 'outbox_full') throw new OutboxFullError();
  const payment = readPaymentId({ entry, slot }) ?? id;
  const result = toResult(request, payment, { outcome, number, until });
  // For a busy or conflicting payment the script returns the slot only if the retry key belongs to that payment.
  const isOwn = slot !== '' && ['claimed', 'answered', 'busy', 'paused', 'conflict'].includes(outcome ?? '');
  return result && { result, isOwn };
}

function toResult(
  { owner }: ClaimRequest,
  id: PaymentId,
  { outcome, number, until }: { outcome: string | undefined; number: string | undefined; until: string | undefined },
): ClaimResult | null {
  switch (outcome) {
    case 'claimed':
      return { outcome, lease: { id, owner, generation: Number(number), untilMs: Number(until) } };
    case 'answered':
      return { outcome, id };
    case 'busy':
    case 'paused':
      return { outcome, retryAfterMs: Math.max(0, Number(number)) };
    case 'payment_too_old':
    case 'older_than_ledger':
    case 'released_too_often':
    case 'payment_refunded':
      return { outcome: 'refused', failure: outcome, id };
    case 'conflict':
    case 'used':
    case 'late':
      return { outcome };
    default:
      return null;
  }
}

/** Keys are stored unescaped in the record, so they must not contain its separators. */
function assertKey(key: string, name: string): void {
  if (!/^[\w-]{1,64}$/.test(key)) throw new TypeError(`${name} must be 1 to 64 base64url characters`);
}
