import { isAddressEqual, type Address } from 'viem';

/** The address that all operations use for the native token (specification, section "Native token address"). */
export const NATIVE_TOKEN = '0x0';

export interface Token {
  /** The contract, or `0x0` for the native token. */
  address: Address;
  /** Safe to show: cut, and without control characters. It is still untrusted text. */
  symbol: string;
  decimals: number;
  isNative: boolean;
  /** Whether the symbol comes from the chain's token list and not from the contract itself. */
  isListed: boolean;
}

/** One entry of a chain's token list; the only source of symbols that may be resolved to addresses. */
export interface ListedToken {
  address: Address;
  symbol: string;
  decimals: number;
  /** Other symbols of the same token. */
  aliases?: readonly string[];
}

export interface TokenAmount {
  token: Token;
  amountBaseUnits: bigint;
}

/** The native token's `0x0` is not an address, so viem's comparison refuses it. */
export function isSameToken(one: Pick<Token, 'address'>, other: Pick<Token, 'address'>): boolean {
  if (one.address === NATIVE_TOKEN || other.address === NATIVE_TOKEN) return one.address === other.address;
  return isAddressEqual(one.address, other.address);
}
