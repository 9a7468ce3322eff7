import { setTimeout as sleep } from 'node:timers/promises';

import { callRpc, callRpcBatch } from '../processes/json-rpc.js';

interface Pool {
  isAutomine: boolean;
  block: string;
  isBlockEmpty: boolean;
  /** Transactions that could be mined. */
  executable: number;
  /** Transactions that wait for others of their sender. */
  queued: number;
}

/** `txpool_content`: transactions by sender and nonce. */
interface Content {
  queued: Record<string, Record<string, { hash: string }>>;
}

const PAUSE_MS = 250;
/** A pause is at least this many times as long as the last answer took, up to the longest. */
const ANSWERS_PER_PAUSE = 10;
/** One answer that took six seconds, while a node took in thousands of transactions, must not end the watch for a minute. */
const LONGEST_PAUSE_MS = 5_000;

/**
 * Helps anvil's automine when two looks in a row find transactions that could be mined and none mined between them. Of many
 * that arrive together it leaves some (foundry issue 10122), and then mines empty blocks or none: then it is asked for a
 * block. And a transaction that arrives while the one before it is mined may stay queued: then all that its sender has in
 * the pool is sent again. Leaves a chain alone that mines on demand. `onNudge` receives how often it helped so far.
 */
export function watchPool(rpcUrl: string, onNudge: (nudges: number) => void): { stop: () => void } {
  const stopped = new AbortController();
  let nudges = 0;
  const watch = async (): Promise<void> => {
    let before: Pool | null = null;
    while (!stopped.signal.aborted) {
      const askedMs = performance.now();
      const now: Pool | null = await readPool(rpcUrl).catch(() => null);
      if (now && before) {
        if (isStuck(before, now) && (await nudge(rpcUrl))) onNudge(++nudges);
        if (isQueueStuck(before, now) && (await sendAgain(rpcUrl).catch(() => false))) onNudge(++nudges);
      }
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

function isQueueStuck(before: Pool, now: Pool): boolean {
  const isQueued = (pool: Pool) => pool.executable === 0 && pool.queued > 0;
  return now.isAutomine && isQueued(before) && isQueued(now) && now.block === before.block;
}

/** Sends the next transaction of each sender again if it is queued. Returns whether there was one; others wait for one that is missing. */
async function sendAgain(rpcUrl: string): Promise<boolean> {
  const { queued } = (await callRpc(rpcUrl, 'txpool_content')) as Content;
  let isSent = false;
  for (const [sender, byNonce] of Object.entries(queued)) {
    const mined = Number(await callRpc(rpcUrl, 'eth_getTransactionCount', [sender, 'latest']));
    const inOrder = Object.entries(byNonce).sort(([one], [other]) => Number(one) - Number(other));
    if (Number(inOrder[0]?.[0]) !== mined) continue;
    const call = (method: string, params: unknown[]) => ({ method, params });
    const signed = await callRpcBatch(
      rpcUrl,
      inOrder.map(([, { hash }]) => call('eth_getRawTransactionByHash', [hash])),
    );
    await callRpc(rpcUrl, 'anvil_removePoolTransactions', [sender]);
    await callRpcBatch(
      rpcUrl,
      signed.map((raw) => call('eth_sendRawTransaction', [raw])),
    );
    isSent = true;
  }
  return isSent;
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
  const { pending, queued } = status as { pending: string; queued: string };
  const { hash, transactions } = block as { hash: string; transactions: string[] };
  return {
    isAutomine: isAutomine === true,
    block: hash,
    isBlockEmpty: transactions.length === 0,
    executable: Number(pending),
    queued: Number(queued),
  };
}
