import type { AuthorizationUse } from '@tollgate/chain';
import type { PaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import { PaymentRefused } from '../refusals/payment-refused.js';

/** The transaction that settled a signed payment. */
export interface Settlement {
  txHash: Hex;
  blockNumber: number;
  minedAtMs: number;
}

export interface PromisedPayment {
  id: PaymentId;
  payer: Hex;
  amountBaseUnits: bigint;
}

/** A note for the operator, to be read before a refund. */
const WHAT_FOR_IS_UNKNOWN = 'the nonce was used before the searched time range: it may have paid another recipient';

/**
 * The settlement that took the nonce: the payer has paid, whichever account sent it. Refuses `authorization_cancelled`,
 * `payment_used` when the nonce went into another payment, and, with a record for a refund, `payment_too_old` when the
 * transaction cannot be found any more.
 */
export function findSettlement(use: AuthorizationUse, payment: PromisedPayment): Settlement {
  switch (use.outcome) {
    case 'settled':
      return use;
    case 'cancelled':
      throw new PaymentRefused('authorization_cancelled');
    case 'used':
      if (use.txHash !== null) throw new PaymentRefused('payment_used');
      throw new PaymentRefused('payment_too_old', { ...payment, detail: WHAT_FOR_IS_UNKNOWN });
  }
}
