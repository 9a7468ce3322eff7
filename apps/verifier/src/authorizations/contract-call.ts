import type { Hex } from '@tollgate/protocol';
import { encodeFunctionData, parseAbi } from 'viem';

/** A call as it is sent, or tried. */
export interface ContractCall {
  to: Hex;
  data: Hex;
}

/** The same on nearly every chain, and lower case. */
export const MULTICALL3_ADDRESS: Hex = '0xca11bde05977b3631167028862be2a173976ca11';

export const multicall3Abi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] results)',
]);

/** Several calls as one. `mayFail`: the others stand all the same. */
export function bundleCalls(calls: readonly (ContractCall & { mayFail: boolean })[]): ContractCall {
  const args = calls.map(({ to, data, mayFail }) => ({ target: to, allowFailure: mayFail, callData: data }));
  return {
    to: MULTICALL3_ADDRESS,
    data: encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [args] }),
  };
}
