import type { PaymentTrial, SettlementResult } from '@tollgate/common';

import type { SignedPayments } from '../signed-payments/signed-payments.js';
import type { Judge } from './judge.js';
import type { Order } from './resource-request.js';

/** Has the signed payment of an order moved. Never throws. */
export function createSettle(
  judge: Pick<Judge, 'questionOf'>,
  signedPayments: Pick<SignedPayments, 'settle'>,
): (order: Order, amountBaseUnits: bigint, trial?: PaymentTrial) => Promise<SettlementResult> {
  return async ({ purchase, caller }, amountBaseUnits, trial) => {
    const { instrument } = purchase;
    // A transaction moved before it was presented: its claim names it, and nobody asks to settle it.
    if (instrument.kind === 'transaction') return { outcome: 'unavailable', reason: 'nothing_to_settle' };
    return signedPayments.settle(judge.questionOf(purchase, instrument, caller), amountBaseUnits.toString(), trial);
  };
}
