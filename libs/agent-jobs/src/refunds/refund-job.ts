import { hash } from 'node:crypto';

import { codeOfLane, type JobRecord, type LaneId } from '@tollgate/journal';
import { isAddress, isRecord } from '@tollgate/protocol';

/** The wallet that sends refunds, and nothing else. */
export const REFUNDS_WALLET = 'refunds';

/** What a refund's job sends, written by the bookkeeper alone. */
export interface RefundJobInput {
  /** The refund's id, from `nameRefund`. */
  readonly refund: string;
  /** From 1; another attempt is made only after the one before has failed. */
  readonly attempt: number;
  readonly payment: string;
  /** A token's address. */
  readonly token: string;
  /** Base units of the token, as decimal text. */
  readonly amount: string;
  readonly to: string;
  /** Whether a person has to approve it. */
  readonly needsApproval: boolean;
}

/** A payment's refund of a number, from 1, in 1 to 64 letters: the same in the book, the ledger and the journal. */
export function nameRefund(payment: string, number: number): string {
  return `r${hash('sha256', payment, 'hex').slice(0, 32)}-${number}`;
}

/** Whether this is the name of one of the payment's refunds. */
export function isRefundOf(payment: string, refund: string): boolean {
  const [, number] = /-([1-9]\d{0,8})$/.exec(refund) ?? [];
  return number !== undefined && nameRefund(payment, Number(number)) === refund;
}

/**
 * The id of the only job that may send this attempt of a refund. It is made of both, so that two jobs cannot send it, not
 * even after the book was restored from a copy.
 */
export function nameRefundJob(lane: LaneId, { refund, attempt }: Pick<RefundJobInput, 'refund' | 'attempt'>): string {
  return `${codeOfLane(lane)}-${hash('sha256', `${refund}\n${attempt}`, 'hex').slice(0, 24)}`;
}

/** Null for a job that is none of the bookkeeper's refunds. */
export function readRefundJob({ id, lane, input }: Pick<JobRecord, 'id' | 'lane' | 'input'>): RefundJobInput | null {
  if (!isRecord(input)) return null;
  const { refund, attempt, payment, token, amount, to, needsApproval } = input;
  const isRefund =
    typeof refund === 'string' &&
    Number.isSafeInteger(attempt) &&
    typeof payment === 'string' &&
    isAddress(token) &&
    typeof amount === 'string' &&
    /^[1-9]\d{0,77}$/.test(amount) &&
    isAddress(to) &&
    typeof needsApproval === 'boolean';
  if (!isRefund) return null;
  const read: RefundJobInput = { refund, attempt: Number(attempt), payment, token, amount, to, needsApproval };
  return nameRefundJob(lane, read) === id ? read : null;
}
