import { numberToHex } from 'viem';

import { callRpc, postJson } from '../../../tools/devnet/processes/json-rpc.js';
import { refusal, startRpcProxy, type Interception, type RpcProxy, type RpcReply } from './rpc-proxy.js';

/** What a node may be behind in: its newest block, its pool, its receipts and transactions, its state. */
export const LAGS = ['latest', 'pending', 'receipts', 'state'] as const;
export type Lag = (typeof LAGS)[number];

const LOOK_MS = 20;

export interface LaggingNode extends RpcProxy {
  /** From now on it knows everything so far. */
  catchUp(): Promise<void>;
}

/**
 * A node that takes transactions at once, and is behind by a time in some of what it answers: there it knows the blocks
 * up to that time, and refuses to speak of a later one.
 */
export async function startLaggingNode(rpcUrl: string, lags: readonly Lag[], behindMs: number): Promise<LaggingNode> {
  const proxy = await startRpcProxy(rpcUrl, '', false);
  const heads = await watchHeads(rpcUrl);
  const readKnown = () => heads.readAt(performance.now() - behindMs);

  /** Asks of the known block instead of the newest. */
  const atKnown =
    (index: number, lagOf: (tag: unknown) => Lag, unknown: RpcReply): Interception =>
    async (call, forward) => {
      const tag = call.params[index] ?? 'latest';
      const isNumber = typeof tag === 'string' && tag.startsWith('0x');
      const isNewest = tag === 'latest' || tag === 'pending';
      if (!lags.includes(lagOf(tag)) || !(isNumber || isNewest)) return { body: await forward() };
      const known = readKnown();
      if (isNumber && Number(tag) > known) return unknown;
      const params = [...call.params];
      params[index] = isNumber ? tag : numberToHex(known);
      return { body: await postJson(rpcUrl, JSON.stringify({ ...call, params })) };
    };
  for (const method of ['eth_call', 'eth_estimateGas', 'eth_getBalance', 'eth_getCode', 'eth_simulateV1']) {
    proxy.intercept(
      method,
      atKnown(1, () => 'state', NO_STATE),
    );
  }
  proxy.intercept(
    'eth_getTransactionCount',
    atKnown(1, (tag) => (tag === 'pending' ? 'pending' : 'state'), NO_STATE),
  );
  proxy.intercept(
    'eth_getBlockByNumber',
    atKnown(0, () => 'latest', NO_BLOCK),
  );
  proxy.intercept('eth_blockNumber', async (_call, forward) =>
    lags.includes('latest')
      ? { body: JSON.stringify({ jsonrpc: '2.0', id: 1, result: numberToHex(readKnown()) }) }
      : { body: await forward() },
  );
  for (const method of ['eth_getTransactionReceipt', 'eth_getTransactionByHash']) {
    proxy.intercept(method, async (_call, forward) => {
      const answer = JSON.parse(await forward()) as { result: { blockNumber: string | null } | null };
      const number = answer.result?.blockNumber ?? null;
      const isHidden = lags.includes('receipts') && (number === null || Number(number) > readKnown());
      return { body: JSON.stringify(isHidden ? { ...answer, result: null } : answer) };
    });
  }
  return {
    ...proxy,
    catchUp: heads.forgetTimes,
    stop: async () => {
      await heads.stop();
      await proxy.stop();
    },
  };
}

const NO_STATE: RpcReply = refusal(-32000, 'header not found');
const NO_BLOCK: RpcReply = { body: '{"jsonrpc":"2.0","id":1,"result":null}' };

/** Notes when each block came. */
async function watchHeads(rpcUrl: string) {
  let seen: { number: number; atMs: number }[] = [];
  const read = async () => Number(await callRpc(rpcUrl, 'eth_blockNumber'));
  const forgetTimes = async () => {
    seen = [{ number: await read(), atMs: -Infinity }];
  };
  await forgetTimes();
  let isStopped = false;
  const watching = (async () => {
    while (!isStopped) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      const number = await read().catch(() => 0);
      if (number > (seen.at(-1)?.number ?? 0)) seen.push({ number, atMs: performance.now() });
    }
  })();
  return {
    forgetTimes,
    readAt: (timeMs: number) => seen.findLast(({ atMs }) => atMs <= timeMs)?.number ?? 0,
    stop: async () => {
      isStopped = true;
      await watching;
    },
  };
}
