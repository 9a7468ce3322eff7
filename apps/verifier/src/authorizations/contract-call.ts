import type { Hex } from '@tollgate/protocol';
import { encodeFunctionData, parseAbi } from 'viem';

/** A call as it is sent, or tried. */
export interface ContractCall {
  to: Hex;
  data: Hex;
}

export const multicall3Abi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] results)',
]);

/** Several calls as one, by Multicall3. `mayFail`: the others stand all the same. */
export function bundleCalls(multicall3: Hex, calls: readonly (ContractCall & { mayFail: boolean })[]): ContractCall {
  const args = calls.map(({ to, data, mayFail }) => ({ target: to, allowFailure: mayFail, callData: data }));
  return {
    to: multicall3,
    data: encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [args] }),
  };
}
