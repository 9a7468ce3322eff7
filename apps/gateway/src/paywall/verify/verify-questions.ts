import { clientNetwork } from '@tollgate/http';
import { createOwner, signedPaymentId, type EntryId } from '@tollgate/ledger';
import { lowerHex, type Hex, type SignedPayment } from '@tollgate/protocol';
import { type SignedPaymentTerms, type VerifyPaymentRequest } from '@tollgate/transport';

import type { SignedPaymentQuestion } from '../../signed-payments/signed-payments.js';
import { retryKeyOf, type Order, type TransactionInstrument, type Purchase } from '../present/purchase.js';
import { validForMsOf } from './signed-validity.js';

/** The terms that every payment must meet. */
export interface QuestionTerms {
  readonly network: string;
  readonly chainId: number;
  readonly asset: Hex;
  readonly payTo: Hex;
  /** The terms that signed payments must meet. */
  readonly signed: Omit<SignedPaymentTerms, 'priceBaseUnits'>;
  readonly verifyDeadlineMs: number;
  readonly verifyRetryMs: number;
  readonly settleDeadlineMs: number;
  readonly leaseMs: number;
}

/** The question about a transaction, which is verified and claimed in one step. */
export function createTransactionQuestion(
  { purchase, caller }: Order,
  { txHash, signature }: TransactionInstrument,
  terms: QuestionTerms,
  nowMs: number,
): VerifyPaymentRequest {
  const { network, chainId, asset, payTo, verifyDeadlineMs, leaseMs } = terms;
  const { reference, sold, form } = purchase;
  // The documented form demands that a second showing without an Idempotency-Key is refused. Where the payment is bound
  // to its reference, the verifier makes the reference its key.
  const retryKey = form === 'documented' ? purchase.retryKey : retryKeyOf(purchase);
  const { requestId, clientAddress, fingerprint } = caller;
  return {
    requestId,
    owner: createOwner(),
    deadlineMs: nowMs + verifyDeadlineMs,
    network,
    chainId,
    asset,
    payTo,
    priceBaseUnits: sold.priceBaseUnits.toString(),
    txHash: lowerHex(txHash),
    ...(reference === null ? {} : { reference: { ...reference, priceBaseUnits: reference.priceBaseUnits.toString() } }),
    ...(signature === undefined ? {} : { signature }),
    fingerprint,
    retryKey,
    ...(form !== 'documented' && { keyReserves: false }),
    leaseMs,
    clientAddress: clientNetwork(clientAddress),
  };
}

/** The question about a signed payment, for the verifiers and the settlers. */
export function createSignedQuestion(
  { purchase, caller: { requestId, clientAddress } }: Order,
  payment: SignedPayment,
  { signed, settleDeadlineMs }: QuestionTerms,
): SignedPaymentQuestion {
  const terms = { ...signed, priceBaseUnits: purchase.priceBaseUnits.toString() };
  const validForMs = validForMsOf(purchase.endpoint.route, settleDeadlineMs);
  return { requestId, clientAddress, payment, terms, validForMs };
}

/** The ledger's key for the payment. */
export function entryOf({ instrument }: Purchase, { chainId, signed }: QuestionTerms): EntryId {
  if (instrument.kind !== 'transaction') return signedPaymentId(signed, instrument);
  return { chainId, txHash: lowerHex(instrument.txHash) };
}
