import type { Hex } from '@tollgate/protocol';

const EIP_1271_MAGIC = '0x1626ba7e';

/** Enough for any wallet, and too little for a contract that means to keep the RPC server busy or to flood us. */
export const SIGNATURE_GAS = 2_000_000;

/** `isValidSignature(bytes32,bytes)` (EIP-1271): selector, hash, offset, length, padded bytes. */
export function encodeIsValidSignature(hash: Hex, signature: Hex): Hex {
  const bytes = signature.slice(2);
  const length = (bytes.length / 2).toString(16).padStart(64, '0');
  return `${EIP_1271_MAGIC}${hash.slice(2)}${'40'.padStart(64, '0')}${length}${bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')}`;
}

/** Whether a contract answered yes: the magic value, and nothing else in its word. */
export function isYes(answer: Hex): boolean {
  return answer.startsWith(EIP_1271_MAGIC.padEnd(66, '0'));
}
