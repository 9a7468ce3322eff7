import { encodeProof } from '@tollgate/protocol';

import { startChain, type ChainOptions, type Devnet } from '../tools/devnet/chain/chain.js';
import { mineTransfers } from '../tools/devnet/chain/mine-transfers.js';
import { callRpc, callRpcBatch } from '../tools/devnet/processes/json-rpc.js';
import { startProgram, type Program } from '../tools/devnet/processes/start-program.js';
import type { LaneRow } from './lane.js';
import { timeEach } from './load.js';
import { formatNumber } from './report.js';

/** How far away a distant RPC server is. */
export const DELAY_MS = 50;
const ROUND_TRIPS = 40;
const PRICE_BASE_UNITS = 1000n;
const CHALLENGES_AT_ONCE = 32;
const TRANSFERS_PER_BLOCK = 50;
const LOOK_UPS_AT_ONCE = 4;

let nudges = 0;

/** A chain whose automine is helped when it stops. */
export function startBenchChain(options: ChainOptions = {}): Promise<Devnet> {
  return startChain({ ...options, onNudge: () => void nudges++ });
}

/** How often the chains were helped since the last call. */
export function takeNudges(): number {
  const taken = nudges;
  nudges = 0;
  return taken;
}

/** The chain as a fast node shows it: see programs/replay-node.ts. */
export function startReplayNode(chain: Devnet): Promise<Program> {
  return startProgram(['bench/programs/replay-node.ts'], { TARGET: chain.rpcUrl });
}

/** In front of an RPC server that is DELAY_MS away. */
export function startDelayProxy(target: string): Promise<Program> {
  return startProgram(['bench/programs/delay-proxy.ts'], { TARGET: target, DELAY_MS: String(DELAY_MS) });
}

/** Says how long one round trip to the RPC server takes, and how many of them a lone request takes. */
export async function measureRoundTrip(rpcUrl: string, lone: LaneRow | undefined): Promise<string> {
  const { p50Ms } = await timeEach(1, Array(ROUND_TRIPS).keys(), () => callRpc(rpcUrl, 'eth_blockNumber'));
  const trip = `One RPC round trip through the same proxy: p50 ${formatNumber(p50Ms)} ms`;
  if (lone?.p50Ms === undefined) return `${trip}.`;
  return `${trip}; a lone paid request: ${formatNumber(lone.p50Ms)} ms, ${formatNumber(lone.p50Ms / p50Ms)} round trips.`;
}

export interface PaymentsTerms {
  count: number;
  /** The replay node. */
  node: string;
  /** Whose challenges' hash locks the transfers carry; without it they are bare. */
  lockedFor?: string | undefined;
}

/**
 * Pays that many times on the chain and gives the values of the payment header. Mined when this returns, and known to
 * the replay node.
 */
export async function makePayments(chain: Devnet, { count, node, lockedFor }: PaymentsTerms): Promise<string[]> {
  const references = lockedFor === undefined ? undefined : await askForReferences(lockedFor, count);
  const hashes = await mineTransfers(chain, {
    count,
    amountBaseUnits: PRICE_BASE_UNITS,
    transfersPerBlock: TRANSFERS_PER_BLOCK,
    ...(references ? { lockReferences: references } : {}),
  });
  await timeEach(LOOK_UPS_AT_ONCE, hashes, (hash) =>
    callRpcBatch(node, [
      { method: 'eth_getTransactionReceipt', params: [hash] },
      { method: 'eth_getTransactionByHash', params: [hash] },
    ]),
  );
  return hashes.map((txHash, index) => {
    const reference = references?.[index];
    const payload = { txHash, amount: String(PRICE_BASE_UNITS), ...(reference === undefined ? {} : { reference }) };
    return encodeProof({ x402Version: 1, scheme: 'exact', network: 'chain-testnet', payload });
  });
}

async function askForReferences(url: string, count: number): Promise<string[]> {
  const references: string[] = [];
  await timeEach(CHALLENGES_AT_ONCE, Array(count).keys(), async () => {
    const response = await fetch(url);
    const { accepts } = (await response.json()) as { accepts: { extra: { reference: string } }[] };
    references.push(accepts[0]?.extra.reference ?? '');
  });
  return references;
}
