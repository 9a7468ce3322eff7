import { hmac as nobleHmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';

import type { Hex } from '../wire/hex.js';

/** The purchase that a reference is issued for. The HMAC covers these terms, the time, the nonce and the price. */
export interface ReferenceTerms {
  readonly method: string;
  readonly resource: string;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly network: string;
}

/**
 * HMAC-SHA-256, 32 bytes; the result is read before the next call. Must copy `message` to keep it: the memory is
 * reused.
 */
export type HmacSha256 = (key: Uint8Array, message: Uint8Array) => Uint8Array;

export interface ReferenceParts {
  issuedAtMs: number;
  /** 16 bytes. */
  nonce: Uint8Array;
  priceBaseUnits: bigint;
  /** 16 bytes: the first half of the HMAC. */
  mac: Uint8Array;
}

const NONCE_BYTES = 16;
const MAC_BYTES = 16;
/** Base36 digits of one 32-bit limb: 36^7 is the first power above 2^32. */
const LIMB_DIGITS = 7;
const LIMBS = 12; // 4 of the nonce, 4 of the price, 4 of the HMAC
const SUFFIX_LENGTH = LIMBS * LIMB_DIGITS;
const PREFIX = 'chain-';
const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_PRICE = 2n ** 128n - 1n;
// From September 2001 to the year 2286 a millisecond timestamp has 13 digits.
const MIN_MS = 1e12;
const MAX_MS = 1e13 - 1;
const SUFFIX_AT = PREFIX.length + 13 + 1;
const REFERENCE_LENGTH = SUFFIX_AT + SUFFIX_LENGTH;

// Message: 8 bytes ms, 16 nonce, 16 price, then the terms. All calls are synchronous, so they share one buffer.
const TERMS_AT = 8 + NONCE_BYTES + 16;
// The terms stay in the buffer between calls: those of a route with one option do not change.
let message = new Uint8Array(1024);
let messageView = new DataView(message.buffer);
let filled = message.subarray(0, TERMS_AT);
let filledTerms: ReferenceTerms | null = null;
/** Of terms that are used again, as those of a route's options are in turn. Terms are never changed. */
const encodedTerms = new WeakMap<ReferenceTerms, Uint8Array>();
const suffix = new Uint8Array(SUFFIX_LENGTH);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const hmacSha256: HmacSha256 = (key, text) => nobleHmac(sha256, key, text);

// Each part is preceded by its length, so that different terms never give the same text.
function describeTerms({ method, resource, asset, payTo, network }: ReferenceTerms): string {
  return (
    `${method.length} ${method} ${resource.length} ${resource} ${network.length} ${network}` +
    ` ${asset.toLowerCase()} ${payTo.toLowerCase()}`
  );
}

function encodeTerms(terms: ReferenceTerms): Uint8Array {
  let encoded = encodedTerms.get(terms);
  if (encoded === undefined) encodedTerms.set(terms, (encoded = encoder.encode(describeTerms(terms))));
  return encoded;
}

function writeTerms(terms: ReferenceTerms): void {
  if (filledTerms === terms) return;
  const encoded = encodeTerms(terms);
  const length = TERMS_AT + encoded.length;
  if (message.length < length) {
    message = new Uint8Array(length);
    messageView = new DataView(message.buffer);
  }
  message.set(encoded, TERMS_AT);
  filled = message.subarray(0, length);
  filledTerms = terms;
}

function writeMessage(terms: ReferenceTerms, nowMs: number, nonce: Uint8Array, price: bigint): Uint8Array {
  writeTerms(terms);
  messageView.setUint32(0, Math.floor(nowMs / 2 ** 32));
  messageView.setUint32(4, nowMs % 2 ** 32);
  message.set(nonce, 8);
  messageView.setBigUint64(24, price > MAX_UINT64 ? price >> 64n : 0n);
  messageView.setBigUint64(32, price); // keeps the low 64 bits
  return filled;
}

function assertIssuable(nowMs: number, nonce: Uint8Array, price: bigint, secret: Uint8Array): void {
  if (!Number.isInteger(nowMs) || nowMs < MIN_MS || nowMs > MAX_MS)
    throw new RangeError('nowMs is not a time in milliseconds');
  if (nonce.length !== NONCE_BYTES) throw new RangeError(`nonce has ${nonce.length} bytes, not ${NONCE_BYTES}`);
  if (price < 0n || price > MAX_PRICE) throw new RangeError('priceBaseUnits does not fit into 128 bits');
  if (secret.length < 16) throw new RangeError('secret is shorter than 16 bytes');
}

/**
 * Creates a reference `chain-<epoch ms>-<base36>` (specification, "PaymentRequirement.extra"). The suffix holds the
 * nonce, the price, and half an HMAC over both, the time and the terms: so the secret is enough to verify it, without
 * storing it.
 * @throws RangeError for arguments that a reference cannot hold
 */
export function createReference(input: {
  terms: ReferenceTerms;
  /** At most 128 bits. */
  priceBaseUnits: bigint;
  nowMs: number;
  /** 16 random bytes, never used before. */
  nonce: Uint8Array;
  secret: Uint8Array;
  hmac?: HmacSha256;
}): string {
  const { terms, priceBaseUnits, nowMs, nonce, secret, hmac = hmacSha256 } = input;
  assertIssuable(nowMs, nonce, priceBaseUnits, secret);
  const mac = hmac(secret, writeMessage(terms, nowMs, nonce, priceBaseUnits));
  let written = 0;
  for (let at = 8; at < TERMS_AT; at += 4, written += LIMB_DIGITS) writeLimb(readUint32(message, at), suffix, written);
  for (let at = 0; at < MAC_BYTES; at += 4, written += LIMB_DIGITS) writeLimb(readUint32(mac, at), suffix, written);
  return `${PREFIX}${nowMs}-${decoder.decode(suffix)}`;
}

const readUint32 = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0;

function readIssuedAt(text: string): number | null {
  let ms = 0;
  for (let at = PREFIX.length; at < SUFFIX_AT - 1; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return null;
    ms = ms * 10 + digit;
  }
  return ms < MIN_MS ? null : ms;
}

/**
 * Splits text in the form of our references into its parts; null for other text. Does not check its authenticity: use
 * `verifyReference`.
 */
export function readReference(text: string): ReferenceParts | null {
  if (text.length !== REFERENCE_LENGTH || !text.startsWith(PREFIX) || text[SUFFIX_AT - 1] !== '-') return null;
  const issuedAtMs = readIssuedAt(text);
  if (issuedAtMs === null) return null;
  const bytes = new Uint8Array(LIMBS * 4);
  const view = new DataView(bytes.buffer);
  for (let limb = 0; limb < LIMBS; limb += 1) {
    const value = readLimb(text, SUFFIX_AT + limb * LIMB_DIGITS);
    if (value < 0) return null;
    view.setUint32(limb * 4, value);
  }
  return {
    issuedAtMs,
    nonce: bytes.subarray(0, NONCE_BYTES),
    priceBaseUnits: (view.getBigUint64(16) << 64n) | view.getBigUint64(24),
    mac: bytes.subarray(32),
  };
}

// Compares every byte in any case, so that the time taken reveals nothing.
function isSameMac(expected: Uint8Array, presented: Uint8Array): boolean {
  let difference = 0;
  for (let at = 0; at < MAC_BYTES; at += 1) difference |= (expected[at] ?? 0) ^ (presented[at] ?? 0);
  return difference === 0;
}

/**
 * The issue time and price of a reference that one of the secrets made for these terms; null for any other. The caller
 * checks the age by `issuedAtMs`.
 */
export function verifyReference(input: {
  reference: string;
  terms: ReferenceTerms;
  /** The current secret and its predecessors. */
  secrets: readonly Uint8Array[];
  hmac?: HmacSha256;
}): { issuedAtMs: number; priceBaseUnits: bigint } | null {
  const parts = readReference(input.reference);
  if (!parts) return null;
  const { issuedAtMs, nonce, priceBaseUnits, mac } = parts;
  const hmac = input.hmac ?? hmacSha256;
  let authentic = false;
  for (const secret of input.secrets) {
    const expected = hmac(secret, writeMessage(input.terms, issuedAtMs, nonce, priceBaseUnits));
    if (isSameMac(expected, mac)) authentic = true;
  }
  return authentic ? { issuedAtMs, priceBaseUnits } : null;
}

const digitCode = (digit: number): number => (digit < 10 ? 48 + digit : 87 + digit);
// Pairs of digits as character codes: writing two at a time halves the divisions.
const PAIRS = Uint8Array.from({ length: 36 * 36 * 2 }, (_, at) => {
  const pair = at >> 1;
  return digitCode(at % 2 === 0 ? Math.floor(pair / 36) : pair % 36);
});

function writePair(pair: number, into: Uint8Array, at: number): void {
  into[at] = PAIRS[pair * 2] ?? 0;
  into[at + 1] = PAIRS[pair * 2 + 1] ?? 0;
}

/** Writes the seven base36 digits of an unsigned 32-bit integer, leading zeros included, as character codes. */
function writeLimb(value: number, into: Uint8Array, at: number): void {
  const high = Math.floor(value / 1679616); // 36^4
  const low = value - high * 1679616;
  const highest = (high / 1296) | 0;
  const third = (low / 1296) | 0;
  into[at] = digitCode(highest);
  writePair(high - highest * 1296, into, at + 1);
  writePair(third, into, at + 3);
  writePair(low - third * 1296, into, at + 5);
}

/** The 32-bit integer of the seven lower-case base36 digits at `from`, or -1 if they are not one. */
function readLimb(text: string, from: number): number {
  let value = 0;
  for (let at = from; at < from + LIMB_DIGITS; at += 1) {
    const code = text.charCodeAt(at);
    const digit = code >= 97 && code <= 122 ? code - 87 : code >= 48 && code <= 57 ? code - 48 : -1;
    if (digit < 0) return -1;
    value = value * 36 + digit;
  }
  return value > 0xffffffff ? -1 : value;
}
