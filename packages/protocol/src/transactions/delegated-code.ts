import type { Hex } from '../wire/hex.js';

/** The code of an account that has delegated to a contract (EIP-7702): this prefix and the contract's address. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/i;

/**
 * Whether an account with this code has a key: its code is a delegation, and it signs and sends as before.
 * @param code as `eth_getCode` returns it; empty or absent where there is none
 */
export function isDelegated(code: Hex | null | undefined): boolean {
  return typeof code === 'string' && DELEGATION.test(code);
}

/** Whether this is the code of a contract: an account without code has a key, and so has one that has delegated. */
export function isContractCode(code: Hex | null | undefined): boolean {
  return typeof code === 'string' && code !== '0x' && !isDelegated(code);
}
