import type { Hex } from '@tollgate/protocol';

import { encodeBytes, encodeNumber, WORD_BYTES } from './abi-encoding.js';

const EIP_1271_MAGIC = '0x1626ba7e';
/** Behind the hash and this offset. */
const SIGNATURE_OFFSET = 2 * WORD_BYTES;

/** Enough for any wallet, and too little for a contract that means to keep the RPC server busy or to flood us. */
export const SIGNATURE_GAS = 2_000_000;

/** `isValidSignature(bytes32,bytes)` (EIP-1271): selector, hash, offset, length, padded bytes. */
export function encodeIsValidSignature(hash: Hex, signature: Hex): Hex {
  return `${EIP_1271_MAGIC}${hash.slice(2)}${encodeNumber(SIGNATURE_OFFSET)}${encodeBytes(signature)}`;
}

/** Whether a contract answered yes: the magic value, and nothing else in its word. */
export function isYes(answer: Hex): boolean {
  return answer.startsWith(EIP_1271_MAGIC.padEnd('0x'.length + 2 * WORD_BYTES, '0'));
}
