import { encodeFunctionData, isAddressEqual, parseAbi, type Address } from 'viem';

import type { Token } from '../types/token.js';
import type { SwapQuote, SwapRequest } from './protocol.js';

const wrappedNativeAbi = parseAbi(['function deposit() payable', 'function withdraw(uint256 amount)']);

/** The contract that represents a token in pools: pools hold the wrapped token, never the native one. */
export function poolAddressOf(token: Token, wrappedNative: Address): Address {
  return token.isNative ? wrappedNative : token.address;
}

/** The exchange between the native token and its wrapped form, which needs no pool; null for any other pair. */
export function quoteWrapping({ from, to, amountIn }: SwapRequest, wrappedNative: Address): SwapQuote | null {
  const isPair = [from, to].every((token) => isAddressEqual(poolAddressOf(token, wrappedNative), wrappedNative));
  if (!isPair) return null;
  const call = from.isNative
    ? {
        label: `Wrap ${from.symbol} as ${to.symbol}`,
        data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' }),
        value: amountIn,
      }
    : {
        label: `Unwrap ${from.symbol} to ${to.symbol}`,
        data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'withdraw', args: [amountIn] }),
        value: 0n,
      };
  return {
    expectedOut: amountIn,
    isOneToOne: true,
    route: from.isNative ? 'wrapped, one to one' : 'unwrapped, one to one',
    fees: [],
    warnings: [],
    createSwap: async () => ({ approvals: [], calls: [{ ...call, to: wrappedNative }] }),
  };
}
