import { ProblemError } from '@tollgate/http';
import { hashRetryKey } from '@tollgate/ledger';
import {
  PAYMENT_SIGNATURE,
  X_PAYMENT,
  type AuthenticationChallenge,
  type Hex,
  type RequirementTerms,
  type SignedPayment,
  assertAccepted,
  caip2Of,
  challengeNonce,
  isPaymentIdentifier,
  parsePaymentCredential,
  parsePaymentSignature,
  parseProof,
  parseProofOrSigned,
  PaymentError,
  PAYMENT_FAILURES,
  type PaymentFailure,
  type PaymentProof,
  recipientOf,
  signedAmountOf,
} from '@tollgate/protocol';
import type { FastifyRequest } from 'fastify';

import { isMetered } from '../../signed-payments/signed-payments.js';
import type { AuthenticReference, Challenges } from '../offer/challenges.js';
import type { PaidEndpoint } from '../offer/paid-endpoint.js';
import type { PublicOrigin } from '../offer/public-origin.js';
import type { SentPath } from '../route/paid-path.js';
import type { PaymentHeader } from './find-payment-header.js';
import { priceOf } from './price.js';
import { type Instrument, isReferenceUnknown, type PaymentForm, type Purchase, readQuery } from './purchase.js';

/** A well-formed payment whose content is not verified yet. */
export interface ParsedPayment {
  readonly form: PaymentForm;
  /** As the payer names it; the receipt repeats it. */
  readonly network: string;
  readonly instrument: Instrument;
  /** The reference of the challenge that the payment answers, if it names one. */
  readonly reference?: string | undefined;
  /** x402 v2: the payment requirements that the payer accepted. */
  readonly accepted?: RequirementTerms;
  readonly paymentIdentifier?: unknown;
  /** MPP: the challenge as the credential repeats it. */
  readonly challenge?: AuthenticationChallenge;
}

export interface PurchaseParts {
  readonly request: FastifyRequest;
  readonly endpoint: PaidEndpoint;
  readonly path: string;
  readonly sent: SentPath;
  readonly origin: PublicOrigin;
  readonly header: PaymentHeader;
  readonly idempotencyKey: string | undefined;
}

/** Which payments are accepted, in which protocols, and on which terms. */
export interface PurchaseTerms {
  readonly chainId: number;
  /** The networks that payments in `X-Payment` may name. */
  readonly networks: readonly string[];
  readonly signedPayments: boolean;
  readonly challenges: Challenges;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly maxTimeoutSeconds: number;
}

/** @throws PaymentError with one of PAYMENT_FAILURES as its code; ProblemError for an invalid payment identifier */
export function parsePurchase(parts: PurchaseParts, terms: PurchaseTerms): Purchase {
  const { request, endpoint, path, sent, header } = parts;
  const { method } = request;
  const presented = parsePresentedPayment(header, terms);
  const reference = authenticate(presented, parts, terms);
  const { maxTimeoutSeconds } = terms;
  const { priceBaseUnits: currentPrice } = endpoint.route;
  const priceBaseUnits = priceOf(presented.instrument, reference, { priceBaseUnits: currentPrice, maxTimeoutSeconds });
  assertOffered(presented, priceBaseUnits, { ...terms, isMeteredRoute: endpoint.route.isMetered === true });
  const { form, network, instrument, reference: referenceText = null } = presented;
  const mustBeSettled =
    isReferenceUnknown({ reference, referenceText }) || !isCurrentChallenge(presented, reference, parts);
  const paymentIdentifier = parseIdentifier(presented);
  const key =
    parts.idempotencyKey ?? (paymentIdentifier === null ? undefined : `payment-identifier ${paymentIdentifier}`);
  return {
    endpoint,
    method,
    path,
    sent,
    query: readQuery(request.raw.url ?? ''),
    form,
    network,
    instrument,
    reference,
    referenceText,
    priceBaseUnits,
    mustBeSettled,
    retryKey: key === undefined ? null : hashKey(key, referenceText),
    paymentIdentifier,
    startedAtMs: performance.now(),
  };
}

function parsePresentedPayment({ name, value }: PaymentHeader, forms: PurchaseTerms): ParsedPayment {
  switch (name) {
    case X_PAYMENT: {
      const parse = forms.signedPayments ? parseProofOrSigned : parseProof;
      const { network, payload } = parse(value, { network: forms.networks });
      if ('kind' in payload) return { form: 'v1', network, instrument: payload };
      const { reference } = payload;
      return { form: 'documented', network, reference, instrument: toInstrument({ kind: 'transaction', payload }) };
    }
    case PAYMENT_SIGNATURE: {
      const { accepted, payment, reference, paymentIdentifier } = parsePaymentSignature(value);
      const { network } = accepted;
      const own = payment.kind === 'transaction' ? payment.payload.reference : undefined;
      const presented = { form: 'v2', network, accepted, paymentIdentifier, reference: own ?? reference } as const;
      return { ...presented, instrument: toInstrument(payment) };
    }
    case 'Authorization': {
      const { challenge, payment } = parsePaymentCredential(value);
      const presented = { form: 'mpp', network: caip2Of(forms.chainId), challenge, reference: challenge.id } as const;
      return { ...presented, instrument: toInstrument(payment) };
    }
  }
}

function toInstrument(
  payment: SignedPayment | { kind: 'transaction'; payload: Pick<PaymentProof['payload'], 'txHash' | 'signature'> },
): Instrument {
  if (payment.kind !== 'transaction') return payment;
  const { txHash, signature } = payment.payload;
  return { kind: 'transaction', txHash, ...(signature === undefined ? {} : { signature }) };
}

function parseIdentifier({ paymentIdentifier: identifier }: ParsedPayment): string | null {
  if (identifier === undefined) return null;
  if (isPaymentIdentifier(identifier)) return identifier;
  const detail = 'The payment identifier must be 16 to 128 letters, digits, hyphens and underscores.';
  throw new ProblemError({ status: 400, code: 'payment_identifier_invalid', detail });
}

/**
 * Null also for a signed payment whose reference is unknown: before `PAY_TO` or the secret changed, this gateway may have
 * issued it, and a relayer may have moved the money, for which the payer must not be asked again.
 */
function authenticate(
  { reference: text, instrument }: ParsedPayment,
  { request, endpoint, path }: PurchaseParts,
  { challenges }: PurchaseTerms,
): AuthenticReference | null {
  if (text === undefined) return null;
  const reference = challenges.authenticate(endpoint, request.method, path, text);
  if (reference === null && instrument.kind === 'transaction') {
    throw new PaymentError('unknown_reference', 'This gateway did not issue the reference for this request.');
  }
  return reference;
}

/**
 * Checks that the requirements an x402 v2 payer accepted are the offered ones. The payment itself is verified
 * separately: one that was signed for what its payer accepted, and breaks today's offer, is refused by the verifier,
 * which knows whether a relayer has moved its money before the offer changed.
 */
function assertOffered(
  { form, instrument, accepted }: ParsedPayment,
  priceBaseUnits: bigint,
  { chainId, asset, payTo, isMeteredRoute }: PurchaseTerms & { readonly isMeteredRoute: boolean },
): void {
  const scheme = isMetered(instrument) ? 'upto' : 'exact';
  if (scheme === 'upto' && !(isMeteredRoute && form === 'v2')) {
    throw new PaymentError('wrong_scheme', 'This route has a fixed price and does not accept the scheme "upto".');
  }
  if (accepted === undefined) return;
  const signed = instrument.kind === 'transaction' ? null : instrument;
  const isSignedPayTo = signed !== null && accepted.payTo === recipientOf(signed);
  // A maximum above the price breaks no offer.
  const breaksPrice = scheme === 'exact' || BigInt(accepted.amountBaseUnits) < priceBaseUnits;
  const isSignedAmount = breaksPrice && signed !== null && accepted.amountBaseUnits === signedAmountOf(signed);
  assertAccepted(accepted, {
    scheme,
    network: caip2Of(chainId),
    asset,
    payTo: isSignedPayTo ? accepted.payTo : payTo,
    amountBaseUnits: isSignedAmount ? accepted.amountBaseUnits : priceBaseUnits.toString(),
  });
}

/**
 * Checks that this gateway issued the challenge which an MPP credential repeats, and that the authorization is bound to
 * it. False if realm or expiry differ from today's: a gateway with other settings may have issued it, and money that it
 * has moved must not be asked for again. A transaction has moved it in any case.
 */
function isCurrentChallenge(
  { challenge, instrument }: ParsedPayment,
  reference: AuthenticReference | null,
  { endpoint: { offer }, origin }: PurchaseParts,
): boolean {
  if (challenge === undefined || reference === null || offer === null) return true;
  const isCurrent =
    instrument.kind === 'transaction' ||
    (challenge.realm === origin.host && challenge.expires === offer.expiresAt(reference.issuedAtMs));
  const isBound = instrument.kind !== 'authorization' || instrument.authorization.nonce === challengeNonce(challenge);
  if (!offer.isChargeRequest(challenge.request, reference.priceBaseUnits) || !(isCurrent || isBound)) {
    throw new PaymentError(
      'unknown_reference',
      'The credential does not repeat a challenge as this gateway issued it.',
    );
  }
  if (!isBound) {
    throw new PaymentError('not_bound', 'The nonce of the authorization does not commit to the challenge.');
  }
  return isCurrent;
}

/**
 * Includes the reference, which only the payer knows: a key such as `1` can be guessed, and a transaction hash is
 * public.
 */
function hashKey(key: string, reference: string | null): string {
  return hashRetryKey(reference === null ? key : `${reference}\n${key}`);
}

export function isPaymentFailure(code: string): code is PaymentFailure {
  return (PAYMENT_FAILURES as readonly string[]).includes(code);
}
