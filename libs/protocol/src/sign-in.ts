import { isAddress, isHexBytes, type Hex } from './hex.js';
import { decodeJsonHeader } from './json-header.js';
import { ownField, type JsonRecord } from './json-record.js';
import { PaymentError } from './payment-error.js';
import { MAX_PAYMENT_HEADER_BYTES } from './payment-signature.js';

/** Name of the extension by which who paid comes back without paying again. */
export const SIGN_IN_EXTENSION = 'sign-in-with-x';

/** What a 402 asks to be signed as a SIWE message (EIP-4361); the client adds its address. Times are ISO 8601. */
export interface SignInInfo {
  domain: string;
  uri: string;
  statement?: string;
  version: '1';
  nonce: string;
  issuedAt: string;
  expirationTime: string;
}

/** The content of the `SIGN-IN-WITH-X` header: the parts of the message, and its signature. */
export interface SignIn {
  domain: string;
  /** As the payer spelled it. */
  address: Hex;
  uri: string;
  statement?: string;
  version: '1';
  /** CAIP-2. */
  chainId: string;
  nonce: string;
  issuedAt: string;
  expirationTime?: string;
  notBefore?: string;
  requestId?: string;
  resources?: string[];
  signature: Hex;
}

const TEXT = { type: 'string' };
const TIME = { type: 'string', format: 'date-time' };
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    domain: TEXT,
    address: TEXT,
    statement: TEXT,
    uri: { type: 'string', format: 'uri' },
    version: TEXT,
    chainId: TEXT,
    type: TEXT,
    nonce: TEXT,
    issuedAt: TIME,
    expirationTime: TIME,
    notBefore: TIME,
    requestId: TEXT,
    resources: { type: 'array', items: { type: 'string', format: 'uri' } },
    signature: TEXT,
  },
  required: ['domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce', 'issuedAt', 'signature'],
};

/** How a challenge offers the extension. `network` is CAIP-2. */
export function createSignInExtension(info: SignInInfo, network: string): object {
  return { info, supportedChains: [{ chainId: network, type: 'eip191' }], schema: SCHEMA };
}

const MAX_TEXT_LENGTH = 2048;
const MAX_RESOURCES = 16;

function refuse(why: string): never {
  throw new PaymentError('malformed_proof', `The sign-in ${why}.`);
}

// A line break in a field would let one message be read as another.
function isLine(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT_LENGTH && !/[\p{Cc}\u2028\u2029]/u.test(value);
}

function parseLine(record: JsonRecord, name: string): string {
  const value = ownField(record, name);
  return isLine(value) && value !== '' ? value : refuse(`has no line of text as ${name}`);
}

function parseOptionalLine<Name extends string>(record: JsonRecord, name: Name): Partial<Record<Name, string>> {
  const value = ownField(record, name);
  if (value === undefined || value === null) return {};
  return { [name]: parseLine(record, name) } as Partial<Record<Name, string>>;
}

function parseResources(record: JsonRecord): { resources?: string[] } {
  const value = ownField(record, 'resources');
  if (value === undefined || value === null) return {};
  if (!Array.isArray(value) || value.length > MAX_RESOURCES || !value.every(isLine)) {
    return refuse(`has no list of at most ${MAX_RESOURCES} lines as resources`);
  }
  return { resources: value };
}

/**
 * Reads the header: base64 of the message's parts and its signature. Says nothing about whether they are ours or true.
 * @throws PaymentError `malformed_proof`
 */
export function parseSignIn(headerValue: string): SignIn {
  const value = decodeJsonHeader(headerValue, MAX_PAYMENT_HEADER_BYTES);
  const [address, signature] = [ownField(value, 'address'), ownField(value, 'signature')];
  if (ownField(value, 'version') !== '1') return refuse('is not of version "1"');
  if (ownField(value, 'type') !== 'eip191') return refuse('is not of type "eip191"');
  if (!isAddress(address)) return refuse('has no 20-byte address');
  if (!isHexBytes(signature)) return refuse('has no hexadecimal signature');
  return {
    domain: parseLine(value, 'domain'),
    address,
    uri: parseLine(value, 'uri'),
    ...parseOptionalLine(value, 'statement'),
    version: '1',
    chainId: parseLine(value, 'chainId'),
    nonce: parseLine(value, 'nonce'),
    issuedAt: parseLine(value, 'issuedAt'),
    ...parseOptionalLine(value, 'expirationTime'),
    ...parseOptionalLine(value, 'notBefore'),
    ...parseOptionalLine(value, 'requestId'),
    ...parseResources(value),
    signature,
  };
}

/** A challenge's reference as the nonce of a sign-in, which may hold letters and digits only. */
export function signInNonceOf(reference: string): string {
  return reference.replaceAll('-', '');
}

/** The inverse of `signInNonceOf`: text of a reference's shape where the nonce was made of one. */
export function referenceOfNonce(nonce: string): string {
  return `${nonce.slice(0, 5)}-${nonce.slice(5, 18)}-${nonce.slice(18)}`;
}
