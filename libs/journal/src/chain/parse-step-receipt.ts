import { parseBigQuantity, parseObject, parseReceipt } from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

import type { StepReceipt } from '../jobs/ports.js';

/**
 * Null when there is none yet.
 * @throws ChainUnavailableError when the value is not a receipt, or belongs to another transaction
 */
export function parseStepReceipt(value: unknown, hash: Hex): StepReceipt | null {
  const receipt = parseReceipt(value, hash.toLowerCase() as Hex);
  if (receipt === null) return null;
  const { txHash: transactionHash, blockHash, blockNumber, status, logs } = receipt;
  const { gasUsed, effectiveGasPrice } = parseObject(value, 'receipt');
  return {
    ...{ transactionHash, blockHash, blockNumber, logs },
    status: status === 'success' ? 'success' : 'reverted',
    gasUsed: parseBigQuantity(gasUsed, 'gas used'),
    ...(effectiveGasPrice !== undefined && { effectiveGasPrice: parseBigQuantity(effectiveGasPrice, 'gas price') }),
  };
}
