import type { Hex } from '../wire/hex.js';
import { isRecord, ownField, type JsonRecord } from '../wire/json-record.js';
import {
  findShownMethod,
  listSignedMethods,
  signedMethodOf,
  type AnySignedMethod,
  type PaymentToSign,
  type SignedPayment,
  type SignedTerms,
} from './registry.js';
import { parseSignatureField, refuseSignedField } from './signed-fields.js';
import type { SignedScheme } from './signed-method.js';
import { hashWholeTypedData } from './typed-data.js';

/** The account that signed the payment. */
export function payerOf(payment: SignedTerms): Hex {
  return signedMethodOf(payment).payerOf(payment);
}

/** The account that it pays. */
export function recipientOf(payment: SignedTerms): Hex {
  return signedMethodOf(payment).recipientOf(payment);
}

/** The amount in base units; the most that may be moved where the payment is metered. */
export function signedAmountOf(payment: SignedTerms): string {
  return signedMethodOf(payment).amountOf(payment);
}

/** From when to when it is valid as it is signed, in Unix seconds; whether the last one counts, `endOfPayment` says. */
export function validityOf(payment: SignedTerms): { validAfter: string; validBefore: string } {
  return signedMethodOf(payment).validityOf(payment);
}

/** The Unix second from which on it cannot move tokens. */
export function endOfPayment(payment: SignedTerms): number {
  return signedMethodOf(payment).endOf(payment);
}

/** The scheme that was signed, whatever the client states. */
export function schemeOf(payment: SignedTerms): SignedScheme {
  return signedMethodOf(payment).schemeOf(payment);
}

/** The nonce, which is accepted once per payer. */
export function nonceOf(payment: SignedTerms): string {
  return signedMethodOf(payment).nonceOf(payment);
}

/** The payload of x402 for a signed payment, which `parseSignedPayment` reads. */
export function payloadOf(payment: SignedPayment): JsonRecord {
  const { payloadField } = signedMethodOf(payment);
  return { signature: payment.signature, [payloadField]: Reflect.get(payment, payloadField) as unknown };
}

/**
 * Parses a payload of x402, `{signature, authorization}` for one, which payers send in every wire format. The field of
 * the terms shows the method. The result holds only known own fields, hexadecimal text in lower case and numbers without
 * leading zeros, so all spellings of one payment give the same result.
 * @throws PaymentError `malformed_proof` naming the first invalid field.
 */
export function parseSignedPayment(value: unknown): SignedPayment {
  if (!isRecord(value)) return refuseSignedField('payload', 'an object');
  const terms = parseTerms(value);
  return { ...terms, signature: parseSignatureField(value) };
}

function parseTerms(payload: JsonRecord): SignedTerms {
  const [first] = listSignedMethods();
  const method = findShownMethod(payload) ?? (first as AnySignedMethod);
  const kind = ownField(payload, 'kind');
  if (kind !== undefined && kind !== method.kind) return refuseSignedField('kind', `"${method.kind}"`);
  // With two, readers could disagree which one it is: it could be claimed under the nonce of one and settled as the
  // other.
  for (const { payloadField } of listSignedMethods()) {
    const isOther = payloadField !== method.payloadField && (ownField(payload, payloadField) ?? null) !== null;
    if (isOther) return refuseSignedField(payloadField, `omitted beside ${method.noun}`);
  }
  return method.parse(payload);
}

/** The payment once it is signed. */
export function withSignature(payment: PaymentToSign, signature: Hex): SignedPayment {
  return { ...signedMethodOf(payment).termsOf(payment), signature };
}

/** The EIP-712 hash that the payer signs. */
export function hashPaymentToSign(payment: PaymentToSign, chainId: number): Hex {
  return hashWholeTypedData(signedMethodOf(payment).typedDataOf(payment, chainId));
}

/**
 * Parses a stored payment that is to be signed.
 * @throws PaymentError `malformed_proof` when a field is invalid
 */
export function parsePaymentToSign(value: unknown): PaymentToSign {
  if (!isRecord(value)) return refuseSignedField('payload', 'an object');
  const terms = parseTerms(value);
  return signedMethodOf(terms).parseToSign(terms, value);
}
