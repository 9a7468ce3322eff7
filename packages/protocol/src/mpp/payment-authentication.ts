import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

import type { SignedPayment } from '../methods/registry.js';
import { parseSignedPayment } from '../methods/signed-payment.js';
import { encodeBase64Url } from '../wire/base64.js';
import { canonicalJson } from '../wire/canonical-json.js';
import { isHash, type Hex } from '../wire/hex.js';
import { decodeJsonHeader } from '../wire/json-header.js';
import { isRecord, ownField, type JsonRecord } from '../wire/json-record.js';
import { PaymentError } from '../wire/payment-error.js';
import { MAX_PAYMENT_HEADER_BYTES } from '../x402/payment-signature.js';

/** The authentication scheme of `WWW-Authenticate` and `Authorization` that MPP clients use. */
export const PAYMENT_SCHEME = 'Payment';
export const EVM_METHOD = 'evm';
export const CHARGE_INTENT = 'charge';

/** The terms of a payment, as sent in the `request` of a challenge. */
export interface ChargeTerms {
  /** Decimal integer in base units. */
  amount: string;
  asset: Hex;
  payTo: Hex;
  chainId: number;
  decimals: number;
  description?: string;
  /** The types of credentials that are accepted; both unless given. */
  credentialTypes?: readonly ('authorization' | 'hash')[];
}

/** The parameters of one challenge, which the payer sends back. */
export interface AuthenticationChallenge {
  /** Our reference; with the realm it determines the nonce of the authorization. */
  id: string;
  realm: string;
  /** From `encodeChargeRequest`. */
  request: string;
  /** ISO 8601. */
  expires: string;
}

/** Encodes the `request` of a challenge: base64url of canonical JSON (RFC 8785), so equal terms give equal text. */
export function encodeChargeRequest(terms: ChargeTerms): string {
  const { amount, asset, payTo, chainId, decimals, description, credentialTypes = ['authorization', 'hash'] } = terms;
  const methodDetails = { chainId, credentialTypes, decimals };
  return encodeBase64Url(canonicalJson({ amount, currency: asset, description, methodDetails, recipient: payTo }));
}

/** The value of `WWW-Authenticate` up to the challenge's id. */
export const AUTHENTICATION_START = `${PAYMENT_SCHEME} id="`;

/** No value may contain a character that needs escaping in quotes. */
export interface AuthenticationTerms {
  readonly realm: string;
  /** From `encodeChargeRequest`. */
  readonly request: string;
  /** The header for the credential, where it is not `Authorization`. */
  readonly header?: string | undefined;
}

/**
 * The rest of the value between the id and the expiry, to which a closing quotation mark must be added. It may be
 * cached.
 */
export function renderAuthenticationEnd({ realm, request, header }: AuthenticationTerms): string {
  const where = header === undefined ? '' : ` header="${header}",`;
  return `", realm="${realm}", method="${EVM_METHOD}", intent="${CHARGE_INTENT}", request="${request}",${where} expires="`;
}

/** The base64url tokens of the `Payment` credentials in a line of `Authorization` or `Payment-Authorization`. */
export function findPaymentCredentials(authorization: string): string[] {
  return authorization.split(',').flatMap((credential) => {
    const [, token] = /^\s*payment\s+(\S.*)$/i.exec(credential) ?? [];
    return token === undefined ? [] : [token.trim()];
  });
}

/** An `Authorization` header without its `Payment` credentials; null when nothing is left. */
export function withoutPaymentCredentials(authorization: string): string | null {
  const others = authorization.split(',').filter((credential) => !/^\s*payment(\s|$)/i.test(credential));
  return others.length === 0 ? null : others.join(',').trim();
}

/**
 * The content of a `Payment` credential. The payer's `source` is not read: the signature identifies the payer.
 */
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

/** `hash` is the name of the specification; published clients (`@quicknode/mpp` 0.2.0) send `txHash`. */
function parseTransactionHash(payload: JsonRecord): Hex {
  const [hash, txHash] = [ownField(payload, 'hash') ?? null, ownField(payload, 'txHash') ?? null];
  const named = hash ?? txHash;
  if (!isHash(named)) return refuse('has no 32-byte payload.hash');
  const isOne = txHash === null || (isHash(txHash) && txHash.toLowerCase() === named.toLowerCase());
  return isOne ? named : refuse('names two transactions');
}

function parsePayload(payload: unknown): PaymentCredential['payment'] {
  if (!isRecord(payload)) return refuse('has no payload');
  const type = ownField(payload, 'type');
  if (type === 'authorization') {
    return parseSignedPayment({ authorization: payload, signature: ownField(payload, 'signature') });
  }
  if (type !== 'hash') return refuse('is neither of type "authorization" nor "hash"');
  return { kind: 'transaction', payload: { txHash: parseTransactionHash(payload) } };
}

/**
 * Parses a token from `findPaymentCredentials`: base64url of `{challenge, payload}`. The caller checks that the
 * challenge is its own.
 * @throws PaymentError `malformed_proof`, or `wrong_scheme` for another method or intent than an EVM charge.
 */
export function parsePaymentCredential(token: string): PaymentCredential {
  const value = decodeJsonHeader(token, MAX_PAYMENT_HEADER_BYTES);
  const challenge = ownField(value, 'challenge');
  if (!isRecord(challenge)) return refuse('has no challenge');
  if (parseText(challenge, 'method') !== EVM_METHOD || parseText(challenge, 'intent') !== CHARGE_INTENT) {
    throw new PaymentError(
      'wrong_scheme',
      `The payment credential is not of method "${EVM_METHOD}", intent "${CHARGE_INTENT}".`,
    );
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

interface ChargeReceipt {
  txHash: Hex;
  settledAtMs: number;
  /** The id of the challenge that was paid. */
  challengeId?: string | undefined;
  chainId?: number;
}

/** The value of the `Payment-Receipt` header: base64url of the receipt of an EVM charge. */
export function encodePaymentReceipt({ txHash, settledAtMs, challengeId, chainId }: ChargeReceipt): string {
  const timestamp = new Date(settledAtMs).toISOString();
  const receipt = { method: EVM_METHOD, reference: txHash, status: 'success', timestamp, challengeId, chainId };
  return encodeBase64Url(JSON.stringify(receipt));
}
