import type { PaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import type { AuthorizationUse } from '../../authorizations/find-authorization-use.js';
import { PaymentRefused } from '../payment-refused.js';

/** Where a signed payment was made. */
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

/** For the operator, before a refund. */
const WHAT_FOR_IS_UNKNOWN = 'the nonce was used before the time that is searched: it may have paid somebody else';

/**
 * The settlement that took the nonce, be it by a stranger: the payer has paid. Refuses `authorization_cancelled`;
 * `payment_used` where the nonce went into another payment; for refund `payment_too_old` where it cannot be found any more.
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
