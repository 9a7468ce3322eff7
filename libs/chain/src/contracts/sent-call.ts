import type { Hex } from '@tollgate/protocol';

import type { Fees } from '../fees/fees.js';
import { MISSING, valueOf, type RpcCall, type RpcResult } from '../rpc/rpc-endpoint.js';
import { parseBigQuantity } from '../rpc/rpc-value.js';

/** A call with the sender, gas and fees of the transaction that will make it. */
export interface SentCall {
  to: Hex;
  data: Hex;
  from: Hex;
  gas: bigint;
  /** Null to simulate without a gas price, when it is not known or the sender could not pay it. */
  fees: Fees | null;
}

type Block = 'latest' | 'pending';

/**
 * Without fees, nodes simulate at a gas price of 0, which a wallet's code can see and use to behave differently. With
 * fees, GASPRICE is what the block will show, and the sender must be able to pay for all the gas.
 */
export function trySentCall(call: SentCall, block: Block): RpcCall {
  return { method: 'eth_call', params: [describeSending(call), block] };
}

export function estimateSentCall(call: SentCall, block: Block): RpcCall {
  return { method: 'eth_estimateGas', params: [describeSending(call), block] };
}

export function askForNativeBalance(address: Hex): RpcCall {
  return { method: 'eth_getBalance', params: [address, 'latest'] };
}

/** Whether the sender has the balance that nodes require before they simulate a call with a gas price. */
export function canPay({ gas, fees }: SentCall, balance: RpcResult = MISSING): boolean {
  const wei = parseBigQuantity(valueOf(balance, 'eth_getBalance'), 'balance');
  return fees === null || wei >= gas * fees.maxFeePerGas;
}

function describeSending({ to, data, from, gas, fees }: SentCall): Record<string, string> {
  const call = { from, to, data, gas: quantity(gas) };
  if (fees === null) return call;
  const { maxFeePerGas, maxPriorityFeePerGas } = fees;
  return { ...call, maxFeePerGas: quantity(maxFeePerGas), maxPriorityFeePerGas: quantity(maxPriorityFeePerGas) };
}

function quantity(value: bigint): Hex {
  return `0x${value.toString(16)}`;
}
