import type { PaymentTrial } from '@tollgate/common';
import type { Hex, PaymentFailure } from '@tollgate/protocol';

import type { EndedJob } from './job-watch.js';
import type { SettlementEntry } from './settlement-entry.js';
import type { SettlementRecord, UnmadeSettlement } from './settlement-records.js';
import type { Exclusion } from './trials.js';

export interface PaymentToSettle {
  entry: SettlementEntry;
  record: SettlementRecord;
  /** On Redis's clock: later nothing is sent that was not sent before. */
  sendBeforeMs: number;
  /** The job that ended without settling it; null at the first try. */
  endedJobId: string | null;
  /** It shall share its transaction with none. */
  isAlone: boolean;
  /** As it came with the request. */
  trial: PaymentTrial | undefined;
  /** Whether somebody waits for it: no job is begun for who may have been told to sign anew. */
  isWanted: () => boolean;
}

/** What came of carrying a payment's settlement out. */
export type PaymentEnd =
  | { outcome: 'settled'; txHash: Hex }
  /** Another job settles it. */
  | { outcome: 'elsewhere'; jobId: string }
  /** The job is over, and its transaction, which others shared if `isShared`, did not settle the payment as far as it was seen. */
  | { outcome: 'ended'; jobId: string; isShared: boolean; news: EndedJob }
  /** Nothing was sent: the same question was told this before. */
  | { outcome: 'answered'; answer: UnmadeSettlement }
  /** Nothing was sent; it may be settled alone. */
  | { outcome: 'excluded'; why: Exclusion }
  /** Nothing was sent: it would fail, as its payer's have failed before. */
  | { outcome: 'refused'; failure: PaymentFailure }
  /** Nothing was sent. */
  | { outcome: 'unavailable'; reason: string };
