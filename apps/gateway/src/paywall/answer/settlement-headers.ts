import {
  encodeJsonHeader,
  encodePaymentReceipt,
  facilitatorReasonFor,
  PAYMENT_RECEIPT,
  PAYMENT_RESPONSE,
  reasonsOf,
  X_PAYMENT_RESPONSE,
  type Hex,
  type PaymentFailure,
  type SettleResponse,
} from '@tollgate/protocol';

import type { Purchase } from '../present/purchase.js';

/** A settled payment. */
export interface MadePayment {
  /** Null where the charge was zero and nothing was settled. */
  readonly txHash: Hex | null;
  /** Undefined where the sender of the transaction is no longer known. */
  readonly payer: Hex | undefined;
  /** The charged amount of a metered payment; undefined for a fixed price. */
  readonly amountBaseUnits?: string | undefined;
}

/** The receipt headers in the client's protocol; none in the documented (transaction-hash) form. */
export function createSettlementHeaders(
  { form, network, referenceText }: Purchase,
  { txHash, payer, amountBaseUnits }: MadePayment,
  { status, nowMs }: { readonly status: number; readonly nowMs: number },
): [string, string][] {
  const response: SettleResponse = {
    success: true,
    transaction: txHash ?? '',
    network,
    ...(payer === undefined ? {} : { payer }),
    ...(amountBaseUnits === undefined ? {} : { amount: amountBaseUnits }),
  };
  switch (form) {
    case 'documented':
      return [];
    case 'v1':
      return [[X_PAYMENT_RESPONSE, encodeJsonHeader(response)]];
    case 'v2':
      return [[PAYMENT_RESPONSE, encodeJsonHeader(response)]];
    case 'mpp': {
      // MPP sends a receipt only with a successful response.
      if (status >= 400 || txHash === null) return [];
      const named = { challengeId: referenceText ?? undefined, chainId: Number(network.split(':')[1]) };
      return [[PAYMENT_RECEIPT, encodePaymentReceipt({ txHash, settledAtMs: nowMs, ...named })]];
    }
  }
}

/** The headers for a payment whose settlement failed. */
export function createFailureHeaders(
  { form, network, instrument }: Purchase,
  failure: PaymentFailure,
): [string, string][] {
  if (form !== 'v1' && form !== 'v2') return [];
  const errorReason = facilitatorReasonFor(failure, form === 'v1' ? 1 : 2, reasonsOf(instrument));
  const response: SettleResponse = { success: false, errorReason, transaction: '', network };
  return [[form === 'v1' ? X_PAYMENT_RESPONSE : PAYMENT_RESPONSE, encodeJsonHeader(response)]];
}

/** The stored facts of a payment from which its receipt can be sent again. */
type KeptReceipt = Omit<MadePayment, 'payer'>;

const TEXT = /^([\w-]{43})?(?: (\d{1,78}))?$/;

/** Takes 43 characters, plus those of a metered amount: the ledger stores one receipt for each of many payments. */
export function encodeReceipt({ txHash, amountBaseUnits }: KeptReceipt): string {
  const hash = txHash === null ? '' : Buffer.from(txHash.slice(2), 'hex').toString('base64url');
  return amountBaseUnits === undefined ? hash : `${hash} ${amountBaseUnits}`;
}

/** The inverse of `encodeReceipt`; null for text in another format. */
export function decodeReceipt(text: string): KeptReceipt | null {
  const [match, hash, amountBaseUnits] = TEXT.exec(text) ?? [];
  if (match === undefined) return null;
  const txHash: Hex | null = hash === undefined ? null : `0x${Buffer.from(hash, 'base64url').toString('hex')}`;
  return { txHash, ...(amountBaseUnits === undefined ? {} : { amountBaseUnits }) };
}
