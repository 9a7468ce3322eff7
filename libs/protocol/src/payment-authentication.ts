import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

import { encodeBase64Url } from './base64.js';
import { canonicalJson } from './canonical-json.js';
import { isHash, type Hex } from './hex.js';
import { decodeJsonHeader } from './json-header.js';
import { isRecord, ownField, type JsonRecord } from './json-record.js';
import { PaymentError } from './payment-error.js';
import { MAX_PAYMENT_HEADER_BYTES } from './payment-signature.js';
import { parseSignedPayment, type SignedPayment } from './signed-payment.js';

/** The authentication scheme of `WWW-Authenticate` and `Authorization` by which MPP clients pay. */
const PAYMENT_SCHEME = 'Payment';
const METHOD = 'evm';
const INTENT = 'charge';

/** What is to be paid, as the `request` of a challenge says it. */
export interface ChargeTerms {
  /** Decimal integer in base units. */
  amount: string;
  asset: Hex;
  payTo: Hex;
  chainId: number;
  decimals: number;
  description?: string;
}

/** The parameters of one challenge that the payer sends back. */
export interface AuthenticationChallenge {
  /** Our reference: with the realm it makes the nonce of the authorization. */
  id: string;
  realm: string;
  /** By `encodeChargeRequest`. */
  request: string;
  /** ISO 8601. */
  expires: string;
}

/** The `request` of a challenge: base64url of canonical JSON (RFC 8785), the same text for the same terms. */
export function encodeChargeRequest({ amount, asset, payTo, chainId, decimals, description }: ChargeTerms): string {
  const methodDetails = { chainId, credentialTypes: ['authorization', 'hash'], decimals };
  return encodeBase64Url(canonicalJson({ amount, currency: asset, description, methodDetails, recipient: payTo }));
}

/** The value of `WWW-Authenticate` up to the challenge's id. */
export const AUTHENTICATION_START = `${PAYMENT_SCHEME} id="`;

/**
 * The same from behind the id up to the expiry, which a quotation mark ends; may be kept. `realm` may hold nothing that
 * needs escaping in quotes.
 */
export function renderAuthenticationEnd(realm: string, request: string): string {
  return `", realm="${realm}", method="${METHOD}", intent="${INTENT}", request="${request}", expires="`;
}

/** The payment among the credentials of an `Authorization` header: its base64url, or null where there is none. */
export function findPaymentCredential(authorization: string): string | null {
  for (const credential of authorization.split(',')) {
    const [, token] = /^\s*payment\s+(\S.*)$/i.exec(credential) ?? [];
    if (token !== undefined) return token.trim();
  }
  return null;
}

/** An `Authorization` header without its payments; null where nothing is left. */
export function withoutPaymentCredentials(authorization: string): string | null {
  const others = authorization.split(',').filter((credential) => !/^\s*payment(\s|$)/i.test(credential));
  return others.length === 0 ? null : others.join(',').trim();
}

/** What an `Authorization: Payment` credential holds. The payer's `source` is not looked at: the signature says who it is. */
export interface PaymentCredential {
  challenge: AuthenticationChallenge;
  payment: SignedPayment | { kind: 'transaction'; payload: { txHash: Hex } };
}

function refuse(why: string): never {
  throw new PaymentError('malformed_proof', `The payment credential ${why}.`);
}

function parseText(challenge: JsonRecord, name: string): string {
  const value = ownField(challenge, name);
  return typeof value === 'string' ? value : refuse(`has no text as challenge.${name}`);
}

function parsePayload(payload: unknown): PaymentCredential['payment'] {
  if (!isRecord(payload)) return refuse('has no payload');
  const type = ownField(payload, 'type');
  if (type === 'authorization') {
    return parseSignedPayment({ authorization: payload, signature: ownField(payload, 'signature') });
  }
  if (type !== 'hash') return refuse('is neither of type "authorization" nor "hash"');
  const txHash = ownField(payload, 'hash');
  return isHash(txHash) ? { kind: 'transaction', payload: { txHash } } : refuse('has no 32-byte payload.hash');
}

/**
 * Reads what `findPaymentCredential` found: base64url of `{challenge, payload}`. Whether the challenge is ours is the
 * caller's to say.
 * @throws PaymentError `malformed_proof`, or `wrong_scheme` for another method or intent than an EVM charge.
 */
export function parsePaymentCredential(token: string): PaymentCredential {
  const value = decodeJsonHeader(token, MAX_PAYMENT_HEADER_BYTES);
  const challenge = ownField(value, 'challenge');
  if (!isRecord(challenge)) return refuse('has no challenge');
  if (parseText(challenge, 'method') !== METHOD || parseText(challenge, 'intent') !== INTENT) {
    throw new PaymentError('wrong_scheme', `The payment credential is not of method "${METHOD}", intent "${INTENT}".`);
  }
  const [id, realm, request, expires] = ['id', 'realm', 'request', 'expires'].map((name) => parseText(challenge, name));
  return {
    challenge: { id: id ?? '', realm: realm ?? '', request: request ?? '', expires: expires ?? '' },
    payment: parsePayload(ownField(value, 'payload')),
  };
}

/** The EIP-3009 nonce that commits an authorization to one challenge. */
export function challengeNonce({ id, realm }: Pick<AuthenticationChallenge, 'id' | 'realm'>): Hex {
  return `0x${bytesToHex(keccak_256(utf8ToBytes(`${id}${realm}`)))}`;
}

/** The `Payment-Receipt` header's value: base64url of the receipt of an EVM charge. */
export function encodePaymentReceipt({ txHash, settledAtMs }: { txHash: Hex; settledAtMs: number }): string {
  const timestamp = new Date(settledAtMs).toISOString();
  return encodeBase64Url(JSON.stringify({ method: METHOD, reference: txHash, status: 'success', timestamp }));
}
