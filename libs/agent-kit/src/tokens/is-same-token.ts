import { isAddressEqual } from 'viem';

import { NATIVE_TOKEN, type Token } from './token.js';

/** The native token's address is none, which viem's comparison refuses. */
export function isSameToken(one: Pick<Token, 'address'>, other: Pick<Token, 'address'>): boolean {
  if (one.address === NATIVE_TOKEN || other.address === NATIVE_TOKEN) return one.address === other.address;
  return isAddressEqual(one.address, other.address);
}
