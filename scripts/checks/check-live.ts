import { createRpcTransport } from '@tollgate/client';
import { createPublicClient } from 'viem';

import { explainFailure } from '../../packages/agent-kit/src/chain/explain-failure.js';
import { probeRegistry } from '../../packages/agent-kit/src/registry/create-protocol-set.js';
import { findRegistry } from '../../packages/agent-kit/src/registry/find-registry.js';
import { readArguments } from '../answer-usage.mjs';

const HELP = `Usage: npm run check:live -- --rpc <url>

Reads from the chain of this JSON-RPC server what shows that the contracts in the agent kit's registry are what it says,
and prints a table. Exit code 1 if one is not, or the registry lists none; 2 if the server does not answer.

Example: npm run check:live -- --rpc https://evm-rpc.sei-apis.com
`;

const { values } = readArguments(HELP, { options: { rpc: { type: 'string' } } }, ({ values: { rpc } }) => {
  if (!URL.canParse(rpc ?? '')) throw new Error('--rpc must be the URL of a JSON-RPC server.');
});
const transport = createRpcTransport(values.rpc ?? '', { timeout: 20_000, retryCount: 3 });
const client = createPublicClient({ transport });

async function readAll() {
  const chainId = await client.getChainId();
  const registry = await findRegistry(client, chainId);
  process.stdout.write(`chain ${chainId}, ${registry.name}\n`);
  return probeRegistry(client, registry);
}

const results = await readAll().catch((error: unknown) => {
  // Errors of viem repeat the URL, which may contain a key.
  process.stderr.write(`${explainFailure(error).message}\n`);
  process.exit(2);
});
const rows = [
  ['', 'entry', 'read', 'expected', 'found'],
  ...results.map(({ entry, read, expected, found, isRight }) => [
    ...[isRight ? '✓' : '✗', entry, read, expected, found ?? 'no answer'],
  ]),
];
const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
for (const row of rows) {
  const line = row.map((text, column) => text.padEnd(widthOf(column))).join('  ');
  process.stdout.write(`${line.trimEnd()}\n`);
}
const wrong = results.filter(({ isRight }) => !isRight).length;
process.stdout.write(`${results.length - wrong} of ${results.length} are right\n`);
process.exitCode = wrong === 0 && results.length > 0 ? 0 : 1;
