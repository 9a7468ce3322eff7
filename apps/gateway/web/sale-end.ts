import {
  decodeJsonHeader,
  isBaseUnits,
  isHash,
  PAYMENT_RESPONSE,
  UNMOVED_FAILURES,
  X_PAYMENT_RELEASED,
  type Hex,
} from '@tollgate/protocol';

import type { KeptPurchase } from './purchases.js';

/** How an attempt to get the answer ended, for the payer. */
export interface SaleEnd {
  /** That of the payment's lock, where the payer gave a hash for another one. */
  readonly purchase: KeptPurchase;
  readonly text: string;
  /**
   * `missing`: the chain does not have the transaction, which the wallet may have replaced. `overtaken`: another tab has
   * changed the payment. `uncharged`: no tokens have moved, so the payer may also begin anew.
   */
  readonly kind: 'done' | 'retry' | 'missing' | 'uncharged' | 'refused' | 'overtaken';
}

/** Whether the answer is what was bought: neither an error of the gateway, nor one for which the payment was released. */
export function isWhatWasBought({ type, status, headers }: Response): boolean {
  if (type === 'opaqueredirect' || status < 400) return true;
  const isProblem = headers.get('content-type')?.startsWith('application/problem+json') === true;
  return !isProblem && headers.get(X_PAYMENT_RELEASED) !== 'true';
}

/** Whether no tokens can have moved for a payment that is not spent: a signature that was not settled. */
export function isUncharged({ way, mayHaveMoved, isRedeemed }: KeptPurchase, settlesFirst: boolean): boolean {
  return way === 'signature' && !settlesFirst && mayHaveMoved !== true && isRedeemed !== true;
}

/** What has become of a payment for which the seller has failed. */
export function tellFate(purchase: KeptPurchase, settlesFirst: boolean): string {
  if (isUncharged(purchase, settlesFirst)) return 'Nothing was charged.';
  return 'Your payment stays valid. After five failures it is refused, and recorded for a refund if tokens moved.';
}

interface SettledPart {
  readonly txHash?: Hex;
  /** What was charged, which may be less than the signature allows. */
  readonly amountBaseUnits?: string;
}

/** How the gateway settled a signature; empty for a transfer of the payer's own. */
export function readSettledPart({ headers }: Response): SettledPart {
  const header = headers.get(PAYMENT_RESPONSE);
  if (header === null) return {};
  try {
    const { transaction, amount } = decodeJsonHeader(header, 16_384);
    return {
      ...(isHash(transaction) ? { txHash: transaction } : {}),
      ...(isBaseUnits(amount) ? { amountBaseUnits: amount } : {}),
    };
  } catch {
    return {};
  }
}

/** The refusal of a payment for which the seller has failed five times. */
export const RELEASED_TOO_OFTEN = 'released_too_often';

export function explainGatewayRefusal(failure: string, purchase: KeptPurchase, settlesFirst: boolean): string {
  const { way, txHash, isRedeemed } = purchase;
  if (failure === 'transaction_failed')
    return 'The transaction failed on the chain, so no tokens moved. You can begin anew.';
  if (way === 'signature' && isRedeemed !== true && UNMOVED_FAILURES.has(failure))
    return `The gateway refused the signature (${failure}). Nothing was paid; you can begin anew.`;
  if (failure === RELEASED_TOO_OFTEN && isUncharged(purchase, settlesFirst))
    return `The seller has failed five times for this signature, so it is refused (${failure}). Nothing was charged; you can begin anew.`;
  const named = txHash === undefined ? '' : ` Its transaction is ${txHash}.`;
  if (failure === RELEASED_TOO_OFTEN)
    return `The seller has failed five times for this payment, so it is refused (${failure}).${named} If tokens moved, it is recorded for a refund: ask the operator of this gateway before you pay again.`;
  return `The gateway refused the payment (${failure}).${named} If tokens moved, ask the operator of this gateway before you pay again.`;
}
