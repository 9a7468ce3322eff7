import { startChain } from './chain/chain.js';

// Runs only the devnet's chain, for the compose stack: on all addresses and a fixed port, until it is stopped.
const onNudge = (nudges: number) =>
  console.log(`devnet: automine left transactions in the pool, so a block was asked for (${nudges} so far)`);
const chain = await startChain({ host: '0.0.0.0', port: 8545, protocols: true, onNudge });
console.log(`devnet: chain ${chain.chainId} on port 8545, USDC ${chain.asset}, payments go to ${chain.payTo}`);
console.log(`devnet: contracts ${JSON.stringify(chain.contracts)}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void chain.stop());
await chain.exited();
