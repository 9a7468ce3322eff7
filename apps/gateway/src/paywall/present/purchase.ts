import type { IncomingHttpHeaders } from 'node:http';

import { createFingerprint, hashRetryKey } from '@tollgate/ledger';
import { nonceOf, payerOf, type Hex, type SignedPayment } from '@tollgate/protocol';

import type { AuthenticReference } from '../offer/challenges.js';
import type { PaidEndpoint } from '../offer/paid-endpoint.js';
import type { SoldOption } from '../offer/sold-option.js';
import type { SentPath } from '../route/paid-path.js';
import type { PaidRoute } from '../route/paid-route.js';

/** A transaction that the payer sent itself. */
export interface TransactionInstrument {
  readonly kind: 'transaction';
  /** As the payer wrote it. */
  readonly txHash: Hex;
  readonly signature?: Hex;
}

/** The means of payment: a transaction that already exists, or a signature that has yet to be settled. */
export type Instrument = TransactionInstrument | SignedPayment;

/** The protocol of the payer. `documented` (the transaction-hash scheme) has no receipt header. */
export type PaymentForm = 'documented' | 'v1' | 'v2' | 'mpp';

/** A request for a paid route with a well-formed payment. The verifier decides whether it pays. */
export interface Purchase {
  readonly endpoint: PaidEndpoint;
  /** The route in the option that is paid. */
  readonly sold: SoldOption;
  readonly method: string;
  /** In canonical form. */
  readonly path: string;
  /** The path that the upstream is asked for. */
  readonly sent: SentPath;
  readonly query: string;
  readonly form: PaymentForm;
  /** As the payer names it. */
  readonly network: string;
  readonly instrument: Instrument;
  /** Null where the payment names none, or a signed one names one that this gateway did not issue for this request. */
  readonly reference: AuthenticReference | null;
  /** As the payer names it. */
  readonly referenceText: string | null;
  /** The amount of a signed payment, for a metered one the maximum charge; of a transaction if it is bound to its reference. */
  readonly priceBaseUnits: bigint;
  /** The payment answers a challenge that this gateway would not issue today: its money must have moved, or be moving. */
  readonly mustBeSettled: boolean;
  /** Hash of the Idempotency-Key, and of the reference if the payment has one; null without a key. */
  readonly retryKey: string | null;
  /** The payer's identifier for this attempt (x402 v2 extension `payment-identifier`). */
  readonly paymentIdentifier: string | null;
  readonly startedAtMs: number;
}

export interface Caller {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly fingerprint: string;
}

/** A purchase with the parts of the request that its resource receives. */
export interface Order {
  readonly purchase: Purchase;
  readonly caller: Caller;
  /** Without the payment. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | null;
}

/**
 * Two spellings of a path are two requests: the upstream may answer them differently. So are two parts of a streamed
 * answer; a stored one is always the whole.
 */
export function fingerprintOf(
  { method, sent: { path }, query }: Pick<Purchase, 'method' | 'sent' | 'query'>,
  { route: { answer }, headers, body }: Pick<Order, 'headers' | 'body'> & { readonly route: PaidRoute },
): string {
  const range = answer === 'streamed' ? headers.range : undefined;
  return createFingerprint({ method, path, query, range, ...(body === null ? {} : { body }) });
}

/** Whether a signed payment names a reference that this gateway did not issue for this request. */
export function isReferenceUnknown({
  reference,
  referenceText,
}: Pick<Purchase, 'reference' | 'referenceText'>): boolean {
  return reference === null && referenceText !== null;
}

/**
 * The key that identifies a repeat of this purchase; null where a repeat cannot be distinguished from a stolen payment. By
 * x402 v2 or MPP it is a transaction's reference, whether or not a request has a key beside it.
 */
export function retryKeyOf({ form, instrument, retryKey, referenceText }: Purchase): string | null {
  const ofReference = referenceText === null ? null : hashRetryKey(referenceText);
  return instrument.kind === 'transaction' && form !== 'documented'
    ? (ofReference ?? retryKey)
    : (retryKey ?? ofReference);
}

/** Identifies a payment in the log. */
export function paymentFactsOf({ instrument }: Purchase): { txHash: string } | { payer: string; nonce: string } {
  if (instrument.kind === 'transaction') return { txHash: instrument.txHash };
  return { payer: payerOf(instrument), nonce: nonceOf(instrument) };
}

/** The query as sent, without the question mark and without a fragment, which no client should send. */
export function readQuery(url: string): string {
  const hashAt = url.indexOf('#');
  const target = hashAt === -1 ? url : url.slice(0, hashAt);
  const questionAt = target.indexOf('?');
  return questionAt === -1 ? '' : target.slice(questionAt + 1);
}
