import { setTimeout as sleep } from 'node:timers/promises';

import { callRpc, callRpcBatch } from '../processes/json-rpc.js';

interface Pool {
  isAutomine: boolean;
  block: string;
  isBlockEmpty: boolean;
  /** Transactions that could be mined. */
  executable: number;
}

const PAUSE_MS = 250;
/** A pause is at least this many times as long as the last answer took, up to the longest. */
const ANSWERS_PER_PAUSE = 10;
/** One answer that took six seconds, while a node took in thousands of transactions, must not end the watch for a minute. */
const LONGEST_PAUSE_MS = 5_000;

/**
 * Asks anvil for a block when two looks in a row find executable transactions and none mined between them: of many that
 * arrive together automine leaves some (foundry issue 10122), and then mines empty blocks or none. Leaves a chain alone that mines on demand. `onNudge` receives
 * the number of blocks asked for so far.
 */
export function watchPool(rpcUrl: string, onNudge: (nudges: number) => void): { stop: () => void } {
  const stopped = new AbortController();
  let nudges = 0;
  const watch = async (): Promise<void> => {
    let before: Pool | null = null;
    while (!stopped.signal.aborted) {
      const askedMs = performance.now();
      const now: Pool | null = await readPool(rpcUrl).catch(() => null);
      if (now && before && isStuck(before, now) && (await nudge(rpcUrl))) onNudge(++nudges);
      before = now;
      // One look at a time, and fewer the slower the answers come: asking often would keep a busy node busy.
      const tookMs = performance.now() - askedMs;
      const pauseMs = Math.min(Math.max(PAUSE_MS, ANSWERS_PER_PAUSE * tookMs), LONGEST_PAUSE_MS);
      await sleep(pauseMs, undefined, { signal: stopped.signal, ref: false });
    }
  };
  // Ends with an error when it is stopped.
  watch().catch(() => undefined);
  return { stop: () => stopped.abort() };
}

function isStuck(before: Pool, now: Pool): boolean {
  if (!now.isAutomine || now.executable === 0 || before.executable === 0) return false;
  return now.block === before.block || (now.isBlockEmpty && before.isBlockEmpty);
}

async function nudge(rpcUrl: string): Promise<boolean> {
  return callRpc(rpcUrl, 'evm_mine').then(
    () => true,
    () => false,
  );
}

async function readPool(rpcUrl: string): Promise<Pool> {
  const [isAutomine, block, status] = await callRpcBatch(rpcUrl, [
    { method: 'anvil_getAutomine', params: [] },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    { method: 'txpool_status', params: [] },
  ]);
  const { hash, transactions } = block as { hash: string; transactions: string[] };
  return {
    isAutomine: isAutomine === true,
    block: hash,
    isBlockEmpty: transactions.length === 0,
    executable: Number((status as { pending: string }).pending),
  };
}
