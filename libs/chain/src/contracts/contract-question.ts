import type { Hex, QuotedFees } from '@tollgate/protocol';

import { hasContractFailed, MISSING, valueOf, type RpcCall, type RpcResult } from '../rpc/rpc-endpoint.js';
import { malformed, parseData, parseBigQuantity, toQuantity } from '../rpc/rpc-value.js';
import { encodeAddress, WORD_BYTES } from './abi-encoding.js';
import type { CallPlace } from './later-call.js';

/** A contract call, to be sent or simulated. */
export interface ContractCall {
  to: Hex;
  data: Hex;
}

/** A call that is simulated, not sent. */
export interface TriedCall extends ContractCall {
  gas: number;
  /** The sender; omitted where it makes no difference. */
  from?: Hex;
}

/** What the newest block is asked in one round trip. */
export interface ChainQuestion<Answer> {
  calls: RpcCall[];
  read(results: readonly RpcResult[], headBlockNumber: number): Answer;
}

/** One call that tells whether a payment's nonce is taken. */
export interface NonceQuestion {
  /** @param blockNumber default: the newest block that the server has */
  ask(blockNumber?: number): RpcCall;
  /** Null where the contract that keeps the nonce does not exist on this chain. */
  read(result?: RpcResult): boolean | null;
}

/** `balanceOf(address)` (ERC-20) */
const BALANCE_OF = '0x70a08231';
const WORD_LENGTH = '0x'.length + 2 * WORD_BYTES;

/** @param blockNumber default: the newest block that the server has */
export function askContract(to: Hex, data: string, blockNumber?: number): RpcCall {
  return { method: 'eth_call', params: [{ to, data }, blockNumber === undefined ? 'latest' : toQuantity(blockNumber)] };
}

export function tryCall({ gas, ...call }: TriedCall): RpcCall {
  return { method: 'eth_call', params: [{ ...call, gas: toQuantity(gas) }, 'latest'] };
}

export function askForBalance(token: Hex, owner: Hex): RpcCall {
  return askContract(token, `${BALANCE_OF}${encodeAddress(owner)}`);
}

export function askForCode(address: Hex): RpcCall {
  return { method: 'eth_getCode', params: [address, 'latest'] };
}

/** The code at the address passed to `askForCode`; `0x` when there is none. */
export function readCode(result?: RpcResult): Hex {
  return parseData(valueOf(result, 'eth_getCode'), 'code');
}

export function hasCode(result?: RpcResult): boolean {
  return readCode(result) !== '0x';
}

/** What a contract returned; null when the call failed. */
export function readCall(result: RpcResult = MISSING): Hex | null {
  return hasContractFailed(result) ? null : parseData(valueOf(result, 'eth_call'), 'eth_call');
}

/** A contract's answer of one word; null when the call failed or no contract answered. */
export function readWord(result?: RpcResult): bigint | null {
  const data = readCall(result);
  if (data === null || data === '0x') return null;
  return data.length === WORD_LENGTH ? BigInt(data) : malformed('a contract answer that is not one word');
}

/** A call with the sender, gas and fees of the transaction that will make it. */
export interface SentCall {
  to: Hex;
  data: Hex;
  from: Hex;
  gas: bigint;
  /** Null to simulate without a gas price, when it is not known or the sender could not pay it. */
  fees: QuotedFees | null;
}

/**
 * Without fees, nodes simulate at a gas price of 0, which a wallet's code can see and use to behave differently. With
 * fees, GASPRICE is what the block will show, and the sender must be able to pay for all the gas.
 */
export function trySentCall(call: SentCall, place: CallPlace): RpcCall {
  return { method: 'eth_call', params: [describeSending(call), ...place] };
}

export function estimateSentCall(call: SentCall, place: CallPlace): RpcCall {
  return { method: 'eth_estimateGas', params: [describeSending(call), ...place] };
}

export function askForNativeBalance(address: Hex): RpcCall {
  return { method: 'eth_getBalance', params: [address, 'latest'] };
}

/** Whether the sender has the balance that nodes require before they simulate a call with a gas price. */
export function canPay({ gas, fees }: SentCall, balance?: RpcResult): boolean {
  const wei = parseBigQuantity(valueOf(balance, 'eth_getBalance'), 'balance');
  return fees === null || wei >= gas * fees.maxFeePerGas;
}

function describeSending({ to, data, from, gas, fees }: SentCall): Record<string, string> {
  const call = { from, to, data, gas: toQuantity(gas) };
  if (fees === null) return call;
  const { maxFeePerGas, maxPriorityFeePerGas, isLegacy } = fees;
  if (isLegacy) return { ...call, gasPrice: toQuantity(maxFeePerGas) };
  return { ...call, maxFeePerGas: toQuantity(maxFeePerGas), maxPriorityFeePerGas: toQuantity(maxPriorityFeePerGas) };
}
