import type { Hex } from '@tollgate/protocol';

import type { Devnet } from '../tools/devnet/chain/chain.js';
import { callRpcBatch } from '../tools/devnet/processes/json-rpc.js';
import { startProgram, type Program } from '../tools/devnet/processes/start-program.js';
import type { LaneRow } from './lane.js';
import { encodeRequest, sendEach } from './load/send-each.js';
import { formatNumber } from './report.js';

const BATCH = 50;
const BATCHES_AT_ONCE = 4;
const ROUND_TRIPS = 40;

/** The chain as a fast node shows it: see programs/replay-node.ts. */
export function startReplayNode(chain: Devnet): Promise<Program> {
  return startProgram(['bench/programs/replay-node.ts'], { TARGET: chain.rpcUrl });
}

/** In front of an RPC server that is that far away. */
export function startDelayProxy(target: string, delayMs: number): Promise<Program> {
  return startProgram(['bench/programs/delay-proxy.ts'], { TARGET: target, DELAY_MS: String(delayMs) });
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

/** Says how long one round trip to the RPC server takes, and how many of them a lone request takes. */
export async function measureRoundTrip(rpcUrl: string, lone: LaneRow | undefined): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] });
  const request = encodeRequest(rpcUrl, { 'content-type': 'application/json' }, body);
  const requests = new Array<Buffer>(ROUND_TRIPS).fill(request);
  const { p50Ms } = await sendEach({ urls: [rpcUrl], requests, inFlight: 1, expectedStatus: 200 });
  const trip = `One RPC round trip through the same proxy: p50 ${formatNumber(p50Ms)} ms`;
  if (lone?.p50Ms === undefined) return `${trip}.`;
  return `${trip}; a lone paid request: ${formatNumber(lone.p50Ms)} ms, ${formatNumber(lone.p50Ms / p50Ms)} round trips.`;
}
