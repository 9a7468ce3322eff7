import type { Hex } from '@tollgate/protocol';

import { hasContractFailed, MISSING, valueOf, type RpcCall, type RpcResult } from '../rpc/rpc-endpoint.js';
import { malformed, parseData } from '../rpc/rpc-value.js';
import { encodeAddress, WORD_BYTES } from './abi-encoding.js';

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

/** `balanceOf(address)` (ERC-20) */
const BALANCE_OF = '0x70a08231';
const WORD_LENGTH = '0x'.length + 2 * WORD_BYTES;

export function askContract(to: Hex, data: string): RpcCall {
  return { method: 'eth_call', params: [{ to, data }, 'latest'] };
}

export function tryCall({ gas, ...call }: TriedCall): RpcCall {
  return { method: 'eth_call', params: [{ ...call, gas: `0x${gas.toString(16)}` }, 'latest'] };
}

export function askForBalance(token: Hex, owner: Hex): RpcCall {
  return askContract(token, `${BALANCE_OF}${encodeAddress(owner)}`);
}

export function askForCode(address: Hex): RpcCall {
  return { method: 'eth_getCode', params: [address, 'latest'] };
}

/** The code at the address passed to `askForCode`; `0x` when there is none. */
export function readCode(result: RpcResult = MISSING): Hex {
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
