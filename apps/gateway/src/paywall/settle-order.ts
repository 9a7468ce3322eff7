import type { PaymentTrial, SettlementResult } from '@tollgate/common';

import type { SignedPayments } from '../signed-payments/signed-payments.js';
import type { Judge } from './judge.js';
import type { Order } from './resource-request.js';

/** Settles the signed payment of an order. Never throws. */
export function createSettle(
  judge: Pick<Judge, 'questionOf'>,
  signedPayments: Pick<SignedPayments, 'settle'>,
): (order: Order, amountBaseUnits: bigint, trial?: PaymentTrial) => Promise<SettlementResult> {
  return async ({ purchase, caller }, amountBaseUnits, trial) => {
    const { instrument } = purchase;
    // A transaction paid before it was presented: its claim names it, and it is never settled.
    if (instrument.kind === 'transaction') return { outcome: 'unavailable', reason: 'nothing_to_settle' };
    return signedPayments.settle(judge.questionOf(purchase, instrument, caller), amountBaseUnits.toString(), trial);
  };
}
