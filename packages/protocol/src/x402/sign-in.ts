import { isAddress, isHexBytes, type Hex } from '../wire/hex.js';
import { decodeJsonHeader } from '../wire/json-header.js';
import { ownField, type JsonRecord } from '../wire/json-record.js';
import { PaymentError } from '../wire/payment-error.js';

/**
 * Name of the extension by which a payer that has already paid returns without paying again: its signature identifies
 * it.
 */
export const SIGN_IN_EXTENSION = 'sign-in-with-x';

/** The longest header value that is parsed. */
export const MAX_SIGN_IN_HEADER_BYTES = 8192;

/** The sign-in message that a challenge asks for. Times are ISO 8601. */
export interface SignInTerms {
  /** Host of the server, with its port unless that is the scheme's default. */
  domain: string;
  /** The requested resource. */
  uri: string;
  /** CAIP-2. */
  network: string;
  /** Letters and digits. */
  nonce: string;
  issuedAt: string;
  expirationTime: string;
}

/** The signed message as sent in `SIGN-IN-WITH-X`. The server checks that it issued the challenge. */
export interface SignIn extends Omit<SignInTerms, 'expirationTime'> {
  /** In the signer's letter case, because the signed message has it so. */
  address: Hex;
  signature: Hex;
}

/** Why a gate refused a sign-in. The code is sent in `X-Sign-In-Failure`; the list is stable. */
export const SIGN_IN_FAILURES = [
  'malformed_sign_in',
  'domain_mismatch',
  'uri_mismatch',
  'chain_mismatch',
  'nonce_unknown',
  'sign_in_expired',
  'not_paid',
  'nonce_used',
] as const;
export type SignInFailure = (typeof SIGN_IN_FAILURES)[number];

/** The reasons used by published servers; they have none for a valid signer that has not paid. */
const REASONS: Readonly<Record<SignInFailure, string | undefined>> = {
  malformed_sign_in: 'invalid_siwx_payload',
  domain_mismatch: 'invalid_siwx_domain_mismatch',
  uri_mismatch: 'invalid_siwx_uri_mismatch',
  chain_mismatch: 'invalid_siwx_unsupported_chain',
  nonce_unknown: 'invalid_siwx_nonce',
  sign_in_expired: 'invalid_siwx_expired',
  not_paid: undefined,
  nonce_used: 'invalid_siwx_nonce',
};

/** The published protocol's reason for a failure; undefined when it has none. */
export function signInReasonFor(failure: SignInFailure): string | undefined {
  return REASONS[failure];
}

const text = { type: 'string' };
const uri = { type: 'string', format: 'uri' };
const time = { type: 'string', format: 'date-time' };
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    domain: text,
    address: text,
    statement: text,
    uri,
    version: text,
    chainId: text,
    type: text,
    nonce: text,
    issuedAt: time,
    expirationTime: time,
    notBefore: time,
    requestId: text,
    resources: { type: 'array', items: uri },
    signature: text,
  },
  required: ['domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce', 'issuedAt', 'signature'],
};

/**
 * The extension as offered in a challenge of x402 version 2.
 *
 * @param networks CAIP-2: the chains one of which the message names
 */
export function createSignInOffer(
  terms: Omit<SignInTerms, 'network'>,
  networks: readonly string[],
): Readonly<Record<string, unknown>> {
  return {
    info: { ...terms, version: '1', resources: [terms.uri] },
    supportedChains: networks.map((chainId) => ({ chainId, type: 'eip191' })),
    schema: SCHEMA,
  };
}

/** The message that answers `createSignInOffer` (EIP-4361), which the account signs by EIP-191. */
export function createSignInMessage(terms: SignInTerms, address: Hex): string {
  const { domain, nonce, issuedAt, expirationTime, network } = terms;
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    address,
    '',
    '',
    `URI: ${terms.uri}`,
    'Version: 1',
    `Chain ID: ${network.slice(network.indexOf(':') + 1)}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    `Expiration Time: ${expirationTime}`,
    'Resources:',
    `- ${terms.uri}`,
  ].join('\n');
}

/**
 * Parses the `SIGN-IN-WITH-X` header: base64 of the message's fields and its signature. Other fields are dropped; a
 * signature over a message that contains them does not verify, because it was made for another message than the one
 * asked for.
 * @throws PaymentError `malformed_proof`
 */
export function parseSignIn(headerValue: string): SignIn {
  const record = decodeJsonHeader(headerValue, MAX_SIGN_IN_HEADER_BYTES);
  return {
    domain: readText(record, 'domain'),
    uri: readText(record, 'uri'),
    network: readText(record, 'chainId'),
    nonce: readText(record, 'nonce'),
    issuedAt: readText(record, 'issuedAt'),
    address: readHex(record, 'address', isAddress),
    signature: readHex(record, 'signature', isHexBytes),
  };
}

function readText(record: JsonRecord, name: string): string {
  const value = ownField(record, name);
  return typeof value === 'string' ? value : refuse(name, 'a string');
}

function readHex(record: JsonRecord, name: string, is: (value: unknown) => value is Hex): Hex {
  const value = ownField(record, name);
  return is(value) ? value : refuse(name, 'hexadecimal text of the right length');
}

function refuse(field: string, expected: string): never {
  throw new PaymentError('malformed_proof', `The sign-in's ${field} is not ${expected}.`, { details: { field } });
}
