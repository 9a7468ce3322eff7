import { ChainUnavailableError } from '@tollgate/chain';
import type { Refusal, Ledger } from '@tollgate/ledger';
import type { PaymentFailure } from '@tollgate/protocol';
import { StoreError } from '@tollgate/redis';

import type { OptionTerms, SellerTerms } from './seller-terms.js';

/** How long a client should wait before it retries, while room, chain or ledger is not there yet. */
export const RETRY_AFTER_MS = 1000;

/** A rule failed. `record` is set when money arrived that buys nothing: it is recorded for a refund. */
export class PaymentRefused extends Error {
  override readonly name = 'PaymentRefused';

  constructor(
    readonly failure: PaymentFailure,
    readonly record?: Omit<Refusal, 'failure'>,
  ) {
    super(failure);
  }
}

/** No verdict, for a reason that lies with this verifier and those who ask it, not with chain or payment. */
export class NotJudged extends Error {
  override readonly name = 'NotJudged';
  /** Milliseconds until it may be asked about again. */
  readonly retryAfterMs: number;

  constructor(
    readonly reason:
      /** As many payments as may wait for the chain do so. */
      | 'waiting_room_full'
      /** This client has used up its share of look-ups. */
      | 'client_share_used_up'
      /** The gas that contract wallets may still burn is held by payments in flight. */
      | 'contract_wallets_busy'
      /** Redis did not return the gas that contract wallets have burnt. */
      | 'redis_unavailable',
    message: string,
    options: ErrorOptions & { retryAfterMs: number },
  ) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Whether the passing of time alone may turn this failure into a success. */
export function isNotYet(failure: PaymentFailure): boolean {
  return failure === 'receipt_missing' || failure === 'not_confirmed';
}

export type Refused = { outcome: 'refused'; failure: PaymentFailure };
export type Unavailable = { outcome: 'unavailable'; reason: string; retryAfterMs?: number };

/** Why the chain, or this verifier, gave no verdict. Any other error is thrown again. */
export function explainSilence(error: unknown): Unavailable {
  if (!(error instanceof ChainUnavailableError || error instanceof NotJudged)) throw error;
  const { reason, retryAfterMs } = error;
  return { outcome: 'unavailable', reason, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/**
 * Turns an error of the rules, the chain or the ledger into a verdict. A refusal of money that arrived is recorded
 * first. Any other error is thrown again.
 */
export async function explainRefusal(error: unknown, notes: RefundNotes, asked: Asked): Promise<Refused | Unavailable> {
  if (error instanceof StoreError) return { outcome: 'unavailable', reason: error.code };
  if (!(error instanceof PaymentRefused)) return explainSilence(error);
  const { failure, record } = error;
  try {
    if (record) await noteForRefund(notes, { ...record, failure }, asked);
  } catch (ledgerError) {
    // Refused money must be on record. If that fails there is no refusal, and the next attempt makes one.
    return explainRefusal(ledgerError, notes, asked);
  }
  return { outcome: 'refused', failure };
}

/**
 * The note for the operator, to be read before a refund, about a payment that the ledger refused. Empty when the ledger
 * would still know if the payment had bought something.
 */
export function describeDoubt(
  failure: PaymentFailure,
  { minedAtMs, nowMs, memoryMs }: { minedAtMs: number; nowMs: number; memoryMs: number },
): { detail?: string } {
  if (failure !== 'older_than_ledger' && nowMs <= minedAtMs + memoryMs) return {};
  return { detail: 'may have been spent: the ledger does not reach back to it' };
}

/** Where money that arrived and buys nothing is recorded, and logged; its lines are never sampled. */
export interface RefundNotes {
  /** Money for another seller is that seller's to refund, and is not recorded. */
  terms: Pick<SellerTerms, 'isOwn'>;
  ledger: Pick<Ledger, 'recordRefusal'>;
  refundLog: { log(message: object): void };
}

/** The request that found the money, and the recipient and token that it asked about. */
export interface Asked extends OptionTerms {
  requestId: string;
}

/**
 * Records the money, and logs it with the request that found it if it is new. It went to the account that the request
 * asked about, unless the refusal names another. @throws StoreError
 */
export async function noteForRefund(
  { terms, ledger, refundLog }: RefundNotes,
  refusal: Refusal,
  asked: Asked,
): Promise<void> {
  const { id, amountBaseUnits, ...facts } = refusal;
  // Where no amount is known, the transaction may have moved another token, or none.
  const moved = amountBaseUnits === undefined ? {} : { asset: asked.asset, payTo: asked.payTo };
  if (!terms.isOwn(asked) || !(await ledger.recordRefusal({ ...moved, ...refusal }))) return;
  const amount = amountBaseUnits === undefined ? {} : { amountBaseUnits: amountBaseUnits.toString() };
  refundLog.log({
    ...{ requestId: asked.requestId, msg: 'payment recorded for refund' },
    ...{ ...id, ...moved, ...facts, ...amount },
  });
}
