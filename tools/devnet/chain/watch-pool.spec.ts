import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { toHex } from 'viem';

import { waitFor } from '../../../test/harness/retry.js';
import { callRpc, callRpcBatch } from '../processes/json-rpc.js';
import { listenLocally } from '../processes/listen-locally.js';
import { startChain, type Devnet } from './chain.js';
import { watchPool } from './watch-pool.js';

describe('the watch of the pool', () => {
  let chain: Devnet;

  beforeAll(async () => {
    chain = await startChain();
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [false]);
  });
  afterAll(() => chain.stop());

  const countMined = async () =>
    Number(await callRpc(chain.rpcUrl, 'eth_getTransactionCount', [chain.accounts[0]?.address, 'latest']));

  const leaveInPool = async (transactions: number) => {
    const [from, to] = chain.accounts.map(({ address }) => address);
    for (let sent = 0; sent < transactions; sent++) {
      await callRpc(chain.rpcUrl, 'eth_sendTransaction', [{ from, to, value: '0x1' }]);
    }
  };

  // Prevents: automine stops, and no transaction is mined until a client of the devnet calls `evm_mine`.
  it('has a chain mine what its automine left in the pool, and counts that', async () => {
    const before = await countMined();
    await leaveInPool(50);
    const { url, stop } = await standInFor(chain, { anvil_getAutomine: true });
    const nudges: number[] = [];
    const watch = watchPool(url, (count) => nudges.push(count));
    await waitFor('the nudge to be counted', () => nudges.length > 0);
    expect(await countMined()).toBe(before + 50);
    await leaveInPool(1);
    await waitFor('the next nudge to be counted', () => nudges.length > 1);
    expect(await countMined()).toBe(before + 51);
    expect(nudges).toEqual([1, 2]);
    watch.stop();
    await stop();
  });

  // Prevents: a transaction whose turn it is stays queued, and with it all that its sender sends from then on.
  it('sends again what is queued although it is next, and leaves alone what waits for another', async () => {
    const [, , to, from, other] = chain.accounts.map(({ address }) => address);
    const count = async (sender = from) =>
      Number(await callRpc(chain.rpcUrl, 'eth_getTransactionCount', [sender, 'latest']));
    const next = (await count()) + 1;
    const send = (sender: string | undefined, nonce: number) =>
      callRpc(chain.rpcUrl, 'eth_sendTransaction', [{ from: sender, to, value: '0x1', nonce: toHex(nonce) }]);
    await send(other, (await count(other)) + 1);
    for (const nonce of [next + 1, next]) await send(from, nonce);
    // The pool is not told of it, as it is not of a block that is mined while the transaction arrives.
    await callRpc(chain.rpcUrl, 'anvil_setNonce', [from, toHex(next)]);
    const { url, stop } = await standInFor(chain, { anvil_getAutomine: true });
    const watch = watchPool(url, () => undefined);
    await waitFor('both to be mined', async () => (await count()) === next + 2);
    watch.stop();
    await stop();
    expect(await callRpc(chain.rpcUrl, 'txpool_status')).toEqual({ pending: '0x0', queued: '0x1' });
    await callRpc(chain.rpcUrl, 'anvil_removePoolTransactions', [other]);
  });

  it('leaves a chain alone that mines on demand', async () => {
    const before = await countMined();
    await leaveInPool(1);
    const nudges: number[] = [];
    const watch = watchPool(chain.rpcUrl, (count) => nudges.push(count));
    await sleep(2500);
    watch.stop();
    expect(await countMined()).toBe(before);
    expect(nudges).toEqual([]);
  });
});

// Prevents: a node that is busy is kept busy by questions whether it is.
it('asks a slow node one question at a time, and less often than a quick one', async () => {
  const askedMs: number[] = [];
  let open = 0;
  let mostOpen = 0;
  const { url, stop } = await serveRpc(async (calls) => {
    askedMs.push(performance.now());
    mostOpen = Math.max(mostOpen, ++open);
    await sleep(150);
    open--;
    return calls.map(({ method }) => idle[method]);
  });
  const watch = watchPool(url, () => undefined);
  await waitFor('three looks', () => askedMs.length >= 3);
  watch.stop();
  await stop();
  const gapsMs = askedMs.slice(1).map((atMs, index) => atMs - (askedMs[index] ?? NaN));
  expect(Math.min(...gapsMs)).toBeGreaterThan(1500);
  expect(mostOpen).toBe(1);
});

it('asks a node the less often the longer it is silent, and counts no nudge for that', async () => {
  const askedMs: number[] = [];
  const { url, stop } = await serveRpc(async (calls) => {
    askedMs.push(performance.now());
    await sleep(15 * 2 ** askedMs.length);
    return calls.map(({ method }) => idle[method]);
  });
  const nudges: number[] = [];
  const watch = watchPool(url, (count) => nudges.push(count));
  await waitFor('four looks', () => askedMs.length >= 4);
  watch.stop();
  await stop();
  const gapsMs = askedMs.slice(1).map((atMs, index) => atMs - (askedMs[index] ?? NaN));
  // An answer takes 30, 60 and 120 ms; the pause after it is ten times as long.
  [330, 660, 1320].forEach((leastMs, index) => expect(gapsMs[index]).toBeGreaterThan(leastMs * 0.95));
  expect(nudges).toEqual([]);
});

// Prevents: automine goes on with empty blocks for minutes, while thousands of transactions stay in the pool.
it('has a chain mine what stays in the pool while its automine mines empty blocks', async () => {
  let block = 0;
  let isMined = false;
  const { url, stop } = await serveRpc((calls) =>
    Promise.resolve(
      calls.map(({ method }) => {
        if (method === 'evm_mine') isMined = true;
        if (method === 'anvil_getAutomine') return true;
        if (method === 'eth_getBlockByNumber') return { hash: `0x${++block}`, transactions: [] };
        return { pending: isMined ? '0x0' : '0xb7f' };
      }),
    ),
  );
  const nudges: number[] = [];
  const watch = watchPool(url, (count) => nudges.push(count));
  await waitFor('the nudge to be counted', () => nudges.length > 0);
  watch.stop();
  await stop();
  expect(isMined).toBe(true);
});

/** What a chain that mines on demand answers when its pool is empty. */
const idle: Record<string, unknown> = {
  anvil_getAutomine: false,
  eth_getBlockByNumber: { hash: '0x1', transactions: [] },
  txpool_status: { pending: '0x0' },
};

interface Call {
  method: string;
  params: unknown[];
}

/** Answers as the chain does, but for these methods. */
function standInFor({ rpcUrl }: Devnet, results: Record<string, unknown>) {
  return serveRpc(async (calls) => {
    const answers = await callRpcBatch(rpcUrl, calls);
    return calls.map(({ method }, index) => results[method] ?? answers[index]);
  });
}

function serveRpc(answer: (calls: Call[]) => Promise<unknown[]>) {
  const server = createServer((request, response) => {
    void json(request)
      .then((calls) => answer(calls as Call[]))
      .then((results) => response.end(JSON.stringify(results.map((result, id) => ({ id, result })))));
  });
  return listenLocally(server);
}
