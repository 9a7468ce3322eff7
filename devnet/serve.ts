import { startChain } from './chain.js';

// The devnet's chain alone, for the compose stack: all addresses, a fixed port, until it is told to stop.
const chain = await startChain({ host: '0.0.0.0', port: 8545, protocols: true });
console.log(`devnet: chain ${chain.chainId} on port 8545, USDC ${chain.asset}, payments go to ${chain.payTo}`);
console.log(`devnet: contracts ${JSON.stringify(chain.contracts)}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void chain.stop());
await chain.exited();
