import { isAddress, type Hex } from '../wire/hex.js';
import { isRecord, ownField } from '../wire/json-record.js';
import { PaymentError } from '../wire/payment-error.js';
import {
  parseSignedPayment,
  type Permit2Transfer,
  type SignedPayment,
  type TransferAuthorization,
} from './signed-payment.js';
import {
  hashPermit2Domain,
  hashPermit2Transfer,
  hashTokenDomain,
  hashTransferAuthorization,
} from './signing-hashes.js';
import type { TokenDomain } from './typed-data.js';

/** What a payer signs to pay, before it is signed: every field is text, so it can be stored as JSON. */
export type PaymentToSign =
  | { kind: 'authorization'; token: Omit<TokenDomain, 'chainId'>; authorization: TransferAuthorization }
  | ({ kind: 'permit2' } & Permit2Transfer);

/** The payment once it is signed. */
export function withSignature(payment: PaymentToSign, signature: Hex): SignedPayment {
  if (payment.kind === 'permit2') return { ...payment, signature };
  const { kind, authorization } = payment;
  return { kind, authorization, signature };
}

/** The Unix second from which on it cannot move tokens. */
export function endOfPayment(payment: PaymentToSign): number {
  // Permit2 accepts it in a block of exactly its last second.
  return payment.kind === 'permit2'
    ? Number(payment.permit2Authorization.deadline) + 1
    : Number(payment.authorization.validBefore);
}

/** The EIP-712 hash that the payer signs. */
export function hashPaymentToSign(payment: PaymentToSign, chainId: number): Hex {
  if (payment.kind === 'permit2') return hashPermit2Transfer(payment, hashPermit2Domain(chainId));
  return hashTransferAuthorization(payment.authorization, hashTokenDomain({ ...payment.token, chainId }));
}

function withoutSignature({ signature: _, ...payment }: SignedPayment) {
  return payment;
}

/**
 * Parses a stored payment that is to be signed.
 * @throws PaymentError `malformed_proof` when a field is invalid
 */
export function parsePaymentToSign(value: unknown): PaymentToSign {
  const unsigned = isRecord(value) ? { ...value, signature: '0x00' } : value;
  const payment = withoutSignature(parseSignedPayment(unsigned));
  if (payment.kind === 'permit2') return payment;
  const token = isRecord(value) ? ownField(value, 'token') : undefined;
  const field = (name: string): unknown => (isRecord(token) ? ownField(token, name) : undefined);
  const [asset, name, version] = [field('asset'), field('name'), field('version')];
  if (!isAddress(asset) || typeof name !== 'string' || typeof version !== 'string') {
    throw new PaymentError('malformed_proof', "The payment to sign lacks its token's EIP-712 domain.");
  }
  const { kind, authorization } = payment;
  return { kind, token: { asset, name, version }, authorization };
}
