import { isAddressEqual } from 'viem';

import { NATIVE_TOKEN, type Token } from './token.js';

/** The native token's `0x0` is not an address, so viem's comparison refuses it. */
export function isSameToken(one: Pick<Token, 'address'>, other: Pick<Token, 'address'>): boolean {
  if (one.address === NATIVE_TOKEN || other.address === NATIVE_TOKEN) return one.address === other.address;
  return isAddressEqual(one.address, other.address);
}
