import { deriveAgentWallet, deriveRelayer } from './chain/chain.js';
import { callRpc } from './processes/json-rpc.js';
import { adoptOnNewChain, alignRelayers } from './stack/adopt-wallets.js';

// For the compose stack, whose Redis may be older than its chain: sets the nonce of the devnet's relayer to the one that the
// journal expects, and adopts the devnet's first agent wallet under the name, if one is given.
const [name] = process.argv.slice(2);
const { REDIS_URL: redisUrl, RPC_URL: rpcUrl } = process.env;
if (!redisUrl || !rpcUrl) throw new Error('usage: REDIS_URL=… RPC_URL=… adopt-wallet.ts [NAME]');
const { address } = deriveAgentWallet(0);
const chainId = Number(await callRpc(rpcUrl, 'eth_chainId', []));
await alignRelayers({ redisUrl, rpcUrl, chainId, relayers: [deriveRelayer(0)] });
if (name) {
  await adoptOnNewChain({ redisUrl, rpcUrl, chainId, wallets: [{ name, address }] });
  console.log(`${name} (${address}) is adopted`);
}
