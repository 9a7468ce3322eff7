// A JSON-RPC server that answers from memory what the chain at TARGET answered before. Anvil takes 0.4 ms of a core for
// each transaction it is asked for, since it recovers the signer anew; asked directly, it would dominate the measurement.
import { createServer } from 'node:http';

import { callRpcBatch } from '../../tools/devnet/processes/json-rpc.js';
import { listenLocally } from '../../tools/devnet/processes/listen-locally.js';

interface Call {
  id: number;
  method: string;
  params: unknown[];
}

const target = process.env['TARGET'] ?? '';
const REFRESH_MS = 200;
/** Results that never change: on this chain there are no reorganisations. */
const LASTING = new Set(['eth_chainId', 'eth_getTransactionReceipt', 'eth_getTransactionByHash', 'eth_getBlockByHash']);
/** Results as JSON text. */
const known = new Map<string, string>();
let headBlockNumber = '"0x0"';

const keyOf = ({ method, params }: Call): string => (params.length === 0 ? method : `${method}:${String(params[0])}`);

async function askTarget(calls: Omit<Call, 'id'>[]): Promise<string[]> {
  return (await callRpcBatch(target, calls)).map((result) => JSON.stringify(result ?? null));
}

async function answer(calls: Call[]): Promise<string[]> {
  const results = calls.map((call) => (call.method === 'eth_blockNumber' ? headBlockNumber : known.get(keyOf(call))));
  const missing = calls.filter((_, index) => results[index] === undefined);
  if (missing.length > 0) {
    const fetched = await askTarget(missing);
    missing.forEach((call, index) => {
      const text = fetched[index] ?? 'null';
      if (LASTING.has(call.method) && text !== 'null') known.set(keyOf(call), text);
      results[calls.indexOf(call)] = text;
    });
  }
  return calls.map(({ id }, index) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${results[index]}}`);
}

async function refreshHead(): Promise<void> {
  [headBlockNumber = headBlockNumber] = await askTarget([{ method: 'eth_blockNumber', params: [] }]);
}

await refreshHead();
setInterval(() => void refreshHead().catch(() => undefined), REFRESH_MS);
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
    const isBatch = Array.isArray(asked);
    answer(isBatch ? asked : [asked]).then(
      (texts) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(isBatch ? `[${texts.join(',')}]` : texts[0]),
      (error: unknown) => response.writeHead(502).end(String(error)),
    );
  });
});
process.stdout.write(`ready ${(await listenLocally(server)).url}\n`);
