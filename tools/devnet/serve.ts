import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

import { startChain } from './chain/chain.js';
import { FIRST_CHAIN_ID } from './chain/two-chains.js';

const PORT = 8545;

// Runs only the devnet's chain, for the compose stack: on all addresses and a fixed port, until it is stopped. CHAIN_ID names
// another chain than the usual one.
const onNudge = (nudges: number) =>
  console.log(`devnet: automine left transactions in the pool and was helped (${nudges} times so far)`);
const chainId = Number(process.env['CHAIN_ID'] || FIRST_CHAIN_ID);
const chain = await startChain({ chainId, protocols: true, hasNoncesAtStart: true, onNudge });
// Reachable only now: an agent worker asks a chain once which contracts it has, and starts before this chain has them.
const target = new URL(chain.rpcUrl);
const server = createServer((client) => {
  const node = connect(Number(target.port), target.hostname);
  pipeline(client, node, client, () => undefined);
});
server.listen(PORT, '0.0.0.0');
console.log(`devnet: chain ${chain.chainId} on port ${PORT}, USDC ${chain.asset}, payments go to ${chain.payTo}`);
console.log(`devnet: contracts ${JSON.stringify(chain.contracts)}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void chain.stop());
await chain.exited();
server.close();
process.exit();
