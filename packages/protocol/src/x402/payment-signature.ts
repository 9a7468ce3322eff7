import type { SignedPayment } from '../methods/registry.js';
import { parseSignedPayment } from '../methods/signed-payment.js';
import { isSignedPayload, parseTransactionPayload, type PaymentProof } from '../tx-hash/proof.js';
import { decodeJsonHeader } from '../wire/json-header.js';
import { isRecord, ownField } from '../wire/json-record.js';
import { PaymentError, type PaymentFailure } from '../wire/payment-error.js';
import { PAYMENT_IDENTIFIER } from './payment-identifier.js';
import { parseEnvelope, type EnvelopeV2 } from './payment-payload.js';
import type { RequirementTerms } from './requirements.js';

/** The longest header value that is parsed: the signature of an undeployed wallet is long. */
export const MAX_PAYMENT_HEADER_BYTES = 12_288;

/** The content of the `PAYMENT-SIGNATURE` header, for a gate that also accepts transactions sent by the payer. */
export interface PaymentSignature {
  /** The requirement that the payer says it accepted; the gate checks against its own. */
  accepted: RequirementTerms;
  /** `accepted.extra.reference`: the challenge that the payer answers. */
  reference?: string;
  payment: SignedPayment | { kind: 'transaction'; payload: PaymentProof['payload'] };
  /** The id of the extension `payment-identifier` as sent; check it with `isPaymentIdentifier`. */
  paymentIdentifier?: unknown;
}

/** The fields of an offered requirement that the payer's `accepted` is compared with. */
export type OfferedOption = Pick<RequirementTerms, 'scheme' | 'network' | 'asset' | 'payTo' | 'amountBaseUnits'>;

function refuse(code: PaymentFailure, why: string): never {
  throw new PaymentError(code, `The payment ${why}.`);
}

function readReference({ acceptedExtra }: EnvelopeV2): { reference?: string } {
  const reference = ownField(acceptedExtra, 'reference');
  return typeof reference === 'string' ? { reference } : {};
}

function readPaymentIdentifier({ extensions }: EnvelopeV2): { paymentIdentifier?: unknown } {
  const extension = ownField(extensions, PAYMENT_IDENTIFIER);
  const info = isRecord(extension) ? ownField(extension, 'info') : undefined;
  const paymentIdentifier = isRecord(info) ? ownField(info, 'id') : undefined;
  return paymentIdentifier === undefined ? {} : { paymentIdentifier };
}

/**
 * Parses the header of an x402 version 2 payment: base64 of `{x402Version: 2, accepted, payload, extensions?}`. The
 * payload is a signed payment, or a transaction sent by the payer. `resource`, which the payer repeats, is not read.
 * @throws PaymentError `malformed_proof` or `wrong_version`.
 */
export function parsePaymentSignature(headerValue: string): PaymentSignature {
  const value = decodeJsonHeader(headerValue, MAX_PAYMENT_HEADER_BYTES);
  if (ownField(value, 'x402Version') !== 2) return refuse('wrong_version', 'is not of x402Version 2');
  const envelope = parseEnvelope(value);
  const payload = ownField(value, 'payload');
  return {
    accepted: envelope.accepted,
    ...readReference(envelope),
    payment: isSignedPayload(payload)
      ? parseSignedPayment(payload)
      : { kind: 'transaction', payload: parseTransactionPayload(payload) },
    ...readPaymentIdentifier(envelope),
  };
}

/**
 * Compares the payer's `accepted` with the offered requirement.
 * @throws PaymentError `wrong_scheme`, `wrong_network`, `asset_mismatch`, `recipient_mismatch` or `amount_mismatch`.
 */
export function assertAccepted(accepted: RequirementTerms, offered: OfferedOption): void {
  if (accepted.scheme !== offered.scheme) refuse('wrong_scheme', `is not of scheme "${offered.scheme}"`);
  if (accepted.network !== offered.network) refuse('wrong_network', `names another network than ${offered.network}`);
  if (accepted.asset !== offered.asset.toLowerCase()) refuse('asset_mismatch', 'names another asset');
  if (accepted.payTo !== offered.payTo.toLowerCase()) refuse('recipient_mismatch', 'names another recipient');
  if (accepted.amountBaseUnits !== offered.amountBaseUnits) refuse('amount_mismatch', 'names another amount');
}
