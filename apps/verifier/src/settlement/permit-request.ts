import { type PromisedPermit, PROXIES } from '@tollgate/chain';
import type { SettlementResult } from '@tollgate/common';
import type { Hex, PaymentFailure, SignedPermit } from '@tollgate/protocol';

import type { SettleQuestion } from './parse-settle-request.js';

/** A request to settle a permit. */
export type PermitRequest = SettleQuestion & { payment: SignedPermit };

/** The result for a payer that has paid this amount. */
export function settled({ payment }: PermitRequest, txHash: Hex, amount: bigint): SettlementResult {
  const payer = payment.permit2Authorization.from;
  return { outcome: 'settled', txHash, payer, amountBaseUnits: amount.toString() };
}

export function promisedBy({ payment, terms }: PermitRequest): PromisedPermit {
  return { asset: terms.asset, payTo: terms.payTo, payment };
}

/**
 * The asker has verified the payment. This check makes sure that no gas is spent on a payment that cannot be the one
 * asked for.
 */
export function findMismatch({ payment, terms, amountBaseUnits }: PermitRequest): PaymentFailure | null {
  const { permitted, spender, witness } = payment.permit2Authorization;
  const [amount, most] = [BigInt(amountBaseUnits), BigInt(permitted.amount)];
  if (permitted.token !== terms.asset) return 'asset_mismatch';
  if (spender !== PROXIES[payment.scheme]) return 'spender_mismatch';
  if (witness.to !== terms.payTo) return 'recipient_mismatch';
  const isFit = payment.scheme === 'upto' ? amount > 0n && amount <= most : amount === most;
  return isFit ? null : 'amount_mismatch';
}
