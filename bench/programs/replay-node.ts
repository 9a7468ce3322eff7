// A JSON-RPC server that answers from memory what the chain at TARGET answered before. Anvil takes 0.4 ms of a core for
// each transaction it is asked for, since it recovers the signer anew; asked directly, it would dominate the measurement.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

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

async function askTarget(calls: Call[]): Promise<string[]> {
  const response = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))),
  });
  const answers = (await response.json()) as { id: number; result?: unknown }[];
  const texts = new Array<string>(calls.length).fill('null');
  for (const { id, result } of answers) texts[id] = JSON.stringify(result ?? null);
  return texts;
}

async function answer(body: string): Promise<string> {
  const parsed = JSON.parse(body) as Call | Call[];
  const calls = Array.isArray(parsed) ? parsed : [parsed];
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
  const texts = calls.map(({ id }, index) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${results[index]}}`);
  return Array.isArray(parsed) ? `[${texts.join(',')}]` : (texts[0] ?? '');
}

async function refreshHead(): Promise<void> {
  [headBlockNumber = headBlockNumber] = await askTarget([{ id: 0, method: 'eth_blockNumber', params: [] }]);
}

await refreshHead();
setInterval(() => void refreshHead().catch(() => undefined), REFRESH_MS);
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    answer(Buffer.concat(chunks).toString()).then(
      (text) => response.writeHead(200, { 'content-type': 'application/json' }).end(text),
      (error: unknown) => response.writeHead(502).end(String(error)),
    );
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
