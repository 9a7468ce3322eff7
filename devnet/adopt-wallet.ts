import { adoptOnNewChain } from './adopt-wallets.js';
import { deriveAgentWallet } from './chain.js';

// For the compose stack: takes the devnet's first agent wallet into use under the name given.
const [name] = process.argv.slice(2);
const { REDIS_URL: redisUrl, RPC_URL: rpcUrl } = process.env;
if (!name || !redisUrl || !rpcUrl) throw new Error('usage: REDIS_URL=… RPC_URL=… adopt-wallet.ts NAME');
const { address } = deriveAgentWallet(0);
await adoptOnNewChain({ redisUrl, rpcUrl, wallets: [{ name, address }] });
console.log(`${name} (${address}) is adopted`);
