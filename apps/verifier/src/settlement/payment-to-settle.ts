import type { PaymentTrial } from '@tollgate/common';
import type { Hex, PaymentFailure } from '@tollgate/protocol';

import type { EndedJob } from './job-watch.js';
import type { SettlementEntry } from './settlement-entry.js';
import type { SettlementRecord, UnmadeSettlement } from './settlement-records.js';
import type { Exclusion } from './trials.js';

export interface PaymentToSettle {
  entry: SettlementEntry;
  record: SettlementRecord;
  /** On Redis's clock; after it, nothing new is sent. */
  sendBeforeMs: number;
  /** The job that ended without settling the payment; null on the first attempt. */
  endedJobId: string | null;
  /** The payment must not share its transaction. */
  isAlone: boolean;
  /** As received with the request. */
  trial: PaymentTrial | undefined;
  /**
   * Whether an asker still waits. Without one no job is started, because the payer may have been asked to sign anew.
   */
  isWanted: () => boolean;
}

/** The result of an attempt to settle a payment. */
export type PaymentEnd =
  | { outcome: 'settled'; txHash: Hex }
  /** Another job settles the payment. */
  | { outcome: 'elsewhere'; jobId: string }
  /**
   * The job is over and, as far as was seen, its transaction (shared with others if `isShared`) did not settle the
   * payment.
   */
  | { outcome: 'ended'; jobId: string; isShared: boolean; news: EndedJob }
  /** Nothing was sent: the same question had this answer before. */
  | { outcome: 'answered'; answer: UnmadeSettlement }
  /** Nothing was sent; the payment may still be settled alone. */
  | { outcome: 'excluded'; why: Exclusion }
  /** Nothing was sent: it would fail, or payments of this payer have failed before. */
  | { outcome: 'refused'; failure: PaymentFailure }
  /** Nothing was sent. */
  | { outcome: 'unavailable'; reason: string };
