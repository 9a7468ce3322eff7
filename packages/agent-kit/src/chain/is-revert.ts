import { BaseError, ContractFunctionRevertedError } from 'viem';

/** Whether a contract refused, as opposed to a node that failed to answer. */
export function isRevert(error: unknown): boolean {
  return error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError) !== null;
}
