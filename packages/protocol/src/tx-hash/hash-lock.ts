import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

import type { Hex } from '../wire/hex.js';

/** `402L` in ASCII: marks the bytes after the arguments of `transfer` as a hash lock rather than an attribution tag. */
export const LOCK_MARKER: Hex = '0x3430324c';

/** A locked `transfer(to, amount)` found in calldata. */
export interface LockedTransfer {
  to: Hex;
  amountBaseUnits: bigint;
  /** keccak256 of the reference, 32 bytes. */
  lock: Hex;
}

const MARKER_DIGITS = LOCK_MARKER.slice(2);
const TRANSFER_SELECTOR = 'a9059cbb';
const ADDRESS_PADDING = '0'.repeat(24);
// Hex digits from the selector: 8 selector, 64 recipient, 64 amount, 8 marker, 64 lock.
const TO_AT = 8 + 24;
const AMOUNT_AT = 8 + 64;
const MARKER_AT = AMOUNT_AT + 64;
const LOCK_AT = MARKER_AT + 8;
const PATTERN_LENGTH = LOCK_AT + 64;
const HEX_DIGITS = /^[0-9a-f]+$/;

/** The lock of a reference: keccak256 of its UTF-8 bytes. */
export function lockOf(reference: string): Hex {
  return `0x${bytesToHex(keccak_256(utf8ToBytes(reference)))}`;
}

/** The 36 bytes that a payer appends to `transfer(to, amount)`: the marker and keccak256 of the reference. */
export function createHashLock(reference: string): Hex {
  return `${LOCK_MARKER}${lockOf(reference).slice(2)}`;
}

/** The calldata with the lock appended. ERC-20 tokens ignore bytes after their arguments. */
export function appendHashLock(calldata: Hex, reference: string): Hex {
  return `${calldata}${createHashLock(reference).slice(2)}`;
}

/** The calldata of a `transfer` with its lock. */
export function encodeLockedTransfer({ to, amountBaseUnits, lock }: LockedTransfer): Hex {
  const words = [to.slice(2).toLowerCase(), amountBaseUnits.toString(16)].map((word) => word.padStart(64, '0'));
  return `0x${TRANSFER_SELECTOR}${words.join('')}${MARKER_DIGITS}${lock.slice(2)}`;
}

/**
 * Every locked transfer in the calldata, in order: a direct call, or one inside the calldata of a contract wallet or a
 * batch, at any byte offset. Takes time linear in the calldata's length; returns none for text that is not hexadecimal.
 */
export function findHashLocks(calldata: Hex): LockedTransfer[] {
  const digits = calldata.slice(2).toLowerCase();
  const found: LockedTransfer[] = [];
  for (let at = digits.indexOf(TRANSFER_SELECTOR); at >= 0; at = digits.indexOf(TRANSFER_SELECTOR, at + 1)) {
    if (at % 2 !== 0 || at + PATTERN_LENGTH > digits.length) continue;
    if (!digits.startsWith(MARKER_DIGITS, at + MARKER_AT) || !digits.startsWith(ADDRESS_PADDING, at + 8)) continue;
    const pattern = digits.slice(at, at + PATTERN_LENGTH);
    if (!HEX_DIGITS.test(pattern)) continue;
    found.push({
      to: `0x${pattern.slice(TO_AT, AMOUNT_AT)}`,
      amountBaseUnits: BigInt(`0x${pattern.slice(AMOUNT_AT, MARKER_AT)}`),
      lock: `0x${pattern.slice(LOCK_AT)}`,
    });
  }
  return found;
}

/** True when the 32-byte lock is the hash of this reference. */
export function matchesHashLock(lock: Hex, reference: string): boolean {
  return lock.toLowerCase() === lockOf(reference);
}
