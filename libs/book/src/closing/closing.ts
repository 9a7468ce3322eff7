import { keccak256Hex, recoverAccount } from '@tollgate/crypto';
import { canonicalJson, isHash, isRecord, type Hex } from '@tollgate/protocol';

/** What a closing says: which bookings it covers, their root, and the closing before it. */
export interface ClosingContent {
  readonly version: 1;
  readonly number: number;
  /** UTC, `2026-11-25`. */
  readonly day: string;
  readonly firstBooking: number;
  readonly lastBooking: number;
  /** The Merkle root over the content hashes of these bookings. */
  readonly root: string;
  /** The chain hash of the last booking, which covers every booking before it. */
  readonly chainHash: string;
  /** The hash of the closing before; null for the first. */
  readonly previous: string | null;
}

export interface SignedClosing {
  readonly content: ClosingContent;
  /** keccak256 of the content's canonical JSON. */
  readonly hash: string;
  /** In lower case. */
  readonly signer: string;
  /** r, s and v. */
  readonly signature: string;
}

export function closingBytes(content: ClosingContent): Uint8Array {
  return Buffer.from(canonicalJson({ ...content }));
}

export function closingHash(content: ClosingContent): Hex {
  return keccak256Hex(`0x${Buffer.from(closingBytes(content)).toString('hex')}`);
}

/** The account that signed this content, in lower case; null when the hash or the signature does not fit it. */
export function signerOf({ content, hash, signature }: Omit<SignedClosing, 'signer'>): string | null {
  const expected = closingHash(content);
  return hash === expected && /^0x[0-9a-f]+$/i.test(signature) ? recoverAccount(expected, signature as Hex) : null;
}

/** Null when the value is no closing. */
export function parseClosing(value: unknown): ClosingContent | null {
  if (!isRecord(value)) return null;
  const { version, number, day, firstBooking, lastBooking, root, chainHash, previous } = value;
  const isClosing =
    version === 1 &&
    [number, firstBooking, lastBooking].every(Number.isSafeInteger) &&
    typeof day === 'string' &&
    [root, chainHash].every((hash) => typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash)) &&
    (previous === null || isHash(previous));
  if (!isClosing) return null;
  return { version, number, day, firstBooking, lastBooking, root, chainHash, previous } as ClosingContent;
}
