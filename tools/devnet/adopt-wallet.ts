import { deriveAgentWallet, deriveRelayer } from './chain/chain.js';
import { callRpc } from './processes/json-rpc.js';
import { adoptOnNewChain, alignRelayers } from './stack/adopt-wallets.js';

// For the compose stack, whose Redis may be older than its chain: adopts the devnet's first agent wallet under the
// given name, and sets its relayer's nonce to the one that the journal expects.
const [name] = process.argv.slice(2);
const { REDIS_URL: redisUrl, RPC_URL: rpcUrl } = process.env;
if (!name || !redisUrl || !rpcUrl) throw new Error('usage: REDIS_URL=… RPC_URL=… adopt-wallet.ts NAME');
const { address } = deriveAgentWallet(0);
const chainId = Number(await callRpc(rpcUrl, 'eth_chainId', []));
await alignRelayers({ redisUrl, rpcUrl, chainId, relayers: [deriveRelayer(0)] });
await adoptOnNewChain({ redisUrl, rpcUrl, chainId, wallets: [{ name, address }] });
console.log(`${name} (${address}) is adopted`);
