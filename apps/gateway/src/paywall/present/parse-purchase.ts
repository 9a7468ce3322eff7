import { ProblemError } from '@tollgate/http';
import { hashRetryKey } from '@tollgate/ledger';
import {
  PAYMENT_SIGNATURE,
  X_PAYMENT,
  type AuthenticationChallenge,
  type RequirementTerms,
  type SignedPayment,
  assertAccepted,
  caip2Of,
  challengeNonce,
  isPaymentIdentifier,
  lowerHex,
  nonceOf,
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
import type { SoldOption } from '../offer/sold-option.js';
import type { SentPath } from '../route/paid-path.js';
import { agreedPriceOf } from './agreed-price.js';
import type { PaymentHeader } from './find-payment-header.js';
import { type Instrument, isReferenceUnknown, type PaymentForm, type Purchase, readQuery } from './purchase.js';

/** A well-formed payment whose content is not verified yet. */
export interface ParsedPayment {
  readonly form: PaymentForm;
  /** As the payer names it; the receipt repeats it. Null where it names none. */
  readonly network: string | null;
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
  readonly signedPayments: boolean;
  readonly challenges: Challenges;
  readonly maxTimeoutSeconds: number;
}

/** @throws PaymentError with one of PAYMENT_FAILURES as its code; ProblemError for an invalid payment identifier */
export function parsePurchase(parts: PurchaseParts, terms: PurchaseTerms): Purchase {
  const { request, endpoint, path, sent, header } = parts;
  const { method } = request;
  const presented = parsePresentedPayment(header, endpoint, terms);
  const { sold, reference } = authenticate(presented, parts, terms);
  const { maxTimeoutSeconds } = terms;
  const { priceBaseUnits: currentPrice } = sold;
  const priceBaseUnits = agreedPriceOf(presented.instrument, reference, {
    priceBaseUnits: currentPrice,
    maxTimeoutSeconds,
  });
  assertOffered(presented, priceBaseUnits, { sold, isMeteredRoute: endpoint.route.isMetered === true });
  const { form, instrument, reference: referenceText = null } = presented;
  const network = presented.network ?? caip2Of(sold.judged.option.chain.id);
  const mustBeSettled =
    isReferenceUnknown({ reference, referenceText }) || !isCurrentChallenge(presented, reference, { ...parts, sold });
  const paymentIdentifier = parseIdentifier(presented);
  const key =
    parts.idempotencyKey ?? (paymentIdentifier === null ? undefined : `payment-identifier ${paymentIdentifier}`);
  return {
    endpoint,
    sold,
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

function parsePresentedPayment(
  { name, value }: PaymentHeader,
  { options }: PaidEndpoint,
  { signedPayments }: PurchaseTerms,
): ParsedPayment {
  switch (name) {
    case X_PAYMENT: {
      const parse = signedPayments ? parseProofOrSigned : parseProof;
      const { network, payload } = parse(value, { network: options.flatMap(({ networks }) => networks) });
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
      const presented = { form: 'mpp', network: null, challenge, reference: challenge.id } as const;
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

interface Authenticated {
  /** The route in the option that is paid. */
  readonly sold: SoldOption;
  readonly reference: AuthenticReference | null;
}

/**
 * The option that a payment is made in: the one of its reference among those that it may mean, otherwise the first of these.
 * There is no reference also for a signed payment whose reference is unknown: before `PAY_TO` or the secret changed, this
 * gateway may have issued it, and a relayer may have moved the money, for which the payer must not be asked again.
 */
function authenticate(
  presented: ParsedPayment,
  { request, endpoint, path }: PurchaseParts,
  { challenges }: PurchaseTerms,
): Authenticated {
  const { reference: text, instrument } = presented;
  const meant = findMeant(presented, endpoint.options);
  for (const sold of text === undefined ? [] : meant) {
    const reference = challenges.authenticate(sold, request.method, path, text ?? '');
    if (reference !== null) return { sold, reference };
  }
  const sold = meant.find((one) => one.isChargeRequest(presented.challenge?.request ?? '')) ?? meant[0];
  if (sold === undefined || (text !== undefined && instrument.kind === 'transaction')) {
    throw new PaymentError('unknown_reference', 'This gateway did not issue the reference for this request.');
  }
  return { sold, reference: null };
}

const rank = ({ judged }: SoldOption): number => (judged.agreement.isFresh() ? 0 : 1);

/** The options that a payment may be made in, by what it says beside its reference. An MPP challenge may be of any. */
function findMeant({ form, network, accepted }: ParsedPayment, options: readonly SoldOption[]): readonly SoldOption[] {
  if (form === 'documented' || form === 'v1') {
    const onNetwork = options.filter(({ networks }) => networks.includes(network ?? ''));
    // The body of a 402 offers the first that can be judged.
    return onNetwork.length === 1 ? onNetwork : [...onNetwork].sort((one, other) => rank(one) - rank(other));
  }
  if (accepted === undefined) return options;
  const named = options.filter(({ judged: { option } }) => {
    return accepted.network === caip2Of(option.chain.id) && accepted.asset === lowerHex(option.asset);
  });
  // Where none is named, the first explains what is wrong.
  return named.length > 0 ? named : options.slice(0, 1);
}

/**
 * Checks that the requirements an x402 v2 payer accepted are the offered ones. The payment itself is verified
 * separately: one that was signed for what its payer accepted, and breaks today's offer, is refused by the verifier,
 * which knows whether a relayer has moved its money before the offer changed.
 */
function assertOffered(
  { form, instrument, accepted }: ParsedPayment,
  priceBaseUnits: bigint,
  { sold, isMeteredRoute }: { readonly sold: SoldOption; readonly isMeteredRoute: boolean },
): void {
  const { option } = sold.judged;
  const { asset, payTo } = option;
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
    network: caip2Of(option.chain.id),
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
  { endpoint, origin, sold }: PurchaseParts & { readonly sold: SoldOption },
): boolean {
  if (challenge === undefined || reference === null) return true;
  const isCurrent =
    instrument.kind === 'transaction' ||
    (challenge.realm === origin.host && challenge.expires === endpoint.expiresAt(reference.issuedAtMs));
  const isBound = instrument.kind === 'transaction' || nonceOf(instrument) === challengeNonce(challenge);
  if (!sold.isChargeRequest(challenge.request, reference.priceBaseUnits) || !(isCurrent || isBound)) {
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
