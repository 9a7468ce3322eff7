import type { Hex } from '@tollgate/protocol';

import type { RpcBatcher } from '../chain/rpc-batcher.js';
import { hasContractFailed, valueOf, type RpcResult } from '../chain/rpc-endpoint.js';
import { parseQuantity } from '../chain/rpc-value.js';
import type { SettlementCall } from './encode-settlement.js';

const MISSING: RpcResult = { kind: 'missing' };

/**
 * The gas that a call takes as the chain is now; null when it reverts.
 * @throws ChainUnavailableError
 */
export function estimateSettlement(
  batcher: RpcBatcher,
  call: SettlementCall,
  { from, deadlineMs }: { from: Hex; deadlineMs: number },
): Promise<bigint | null> {
  return batcher.ask({
    calls: [{ method: 'eth_estimateGas', params: [{ from, ...call }] }],
    deadlineMs,
    read: ([result = MISSING]) =>
      hasContractFailed(result) ? null : BigInt(parseQuantity(valueOf(result, 'eth_estimateGas'), 'gas')),
  });
}
