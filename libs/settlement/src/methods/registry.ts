import { hash } from 'node:crypto';

import type { ContractCall } from '@tollgate/chain';
import { MethodTable, type SignedPayment } from '@tollgate/protocol';
import type { SignedPaymentTerms } from '@tollgate/transport';

import type { PaymentEntry } from '../payment-entry.js';
import { eip3009Settlement } from './eip3009/method.js';
import { permit2Settlement } from './permit2/method.js';
import type { SettlementMethod, SettlementPlaces } from './settlement-method.js';

export const settlementMethods = new MethodTable<SettlementMethod>([eip3009Settlement, permit2Settlement]);

/** A name for everything that was signed, in 22 characters. */
export function nameSettlement(
  { chainId, asset, payTo }: Pick<SignedPaymentTerms, 'chainId' | 'asset' | 'payTo'>,
  payment: SignedPayment,
  amountBaseUnits: string,
): string {
  const parts = settlementMethods.of(payment).describe(payment, { asset, payTo, amountBaseUnits });
  const digest = hash('sha256', [chainId, ...parts].join(' '), 'hex');
  return Buffer.from(digest.slice(0, 32), 'hex').toString('base64url');
}

/** The call that settles the payment alone. */
export function planEntry(entry: PaymentEntry, places: SettlementPlaces): ContractCall {
  return settlementMethods.of(entry.payment).planCall(entry, places);
}

/** Whether the payment may share a transaction. */
export function isShareable({ payment }: PaymentEntry): boolean {
  return settlementMethods.of(payment).isShareable(payment);
}
