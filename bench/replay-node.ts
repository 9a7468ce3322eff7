import type { Hex } from '@tollgate/protocol';

import type { Devnet } from '../tools/devnet/chain/chain.js';
import { callRpcBatch } from '../tools/devnet/processes/json-rpc.js';
import { startProgram, type Program } from './start-program.js';

const BATCH = 50;
const BATCHES_AT_ONCE = 4;

/** The chain as a fast node shows it: see programs/replay-node.ts. */
export function startReplayNode(chain: Devnet): Promise<Program> {
  return startProgram('programs/replay-node.ts', [], { TARGET: chain.rpcUrl });
}

/** In front of an RPC server that is that far away. */
export function startDelayProxy(target: string, delayMs: number): Promise<Program> {
  return startProgram('programs/delay-proxy.ts', [], { TARGET: target, DELAY_MS: String(delayMs) });
}

/** Has the node ask the chain for all that payments are checked by, so that it answers from memory later. */
export async function preload(rpcUrl: string, hashes: Hex[]): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < hashes.length) {
      const batch = hashes.slice(next, (next += BATCH));
      await callRpcBatch(
        rpcUrl,
        ['eth_getTransactionReceipt', 'eth_getTransactionByHash'].flatMap((method) =>
          batch.map((hash) => ({ method, params: [hash] })),
        ),
      );
    }
  };
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, worker));
}
