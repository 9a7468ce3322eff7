import type { Devnet } from '../chain/chain.js';
import { FIRST_OF_FILE, SECOND_OF_FILE } from '../chain/payments-file.js';
import type { TwoChains } from '../chain/two-chains.js';
import type { ServiceApp } from '../processes/service-process.js';
import type { AgentSetup } from './agent-setup.js';

/** Settings of each kind of service, one entry for each chain that services of this kind share among themselves. */
export type ChainSettings = Readonly<Record<ServiceApp, readonly NodeJS.ProcessEnv[]>>;

interface ServedBy {
  /** Number of relayers of all verifiers of a chain. */
  relayers: number;
  /** One for each chain with agent workers, in order. */
  agents: readonly AgentSetup[];
}

/** The services of one chain, which their settings describe. */
export function describeChain(chain: Devnet, { relayers, agents }: ServedBy): ChainSettings {
  const own = {
    RPC_URL: chain.rpcUrl,
    CHAIN_ID: String(chain.chainId),
    ASSET_ADDRESS: chain.asset,
    PAY_TO: chain.payTo,
  };
  return {
    gateway: [own],
    verifier: [{ ...own, RELAYER_PRIVATE_KEYS: listKeys(chain, relayers) }],
    'agent-worker': agents.map(({ workerEnv }) => ({ ...own, ...workerEnv })),
    bookkeeper: [{ ...own, RECONCILE_RPC_URL: chain.rpcUrl }],
  };
}

/** The services of two chains, which a payments file describes: a gateway and a bookkeeper for both. */
export function describeTwoChains(
  { first, second, paymentsFile }: Omit<TwoChains, 'stop'>,
  { relayers, agents }: ServedBy,
): ChainSettings {
  const names = [FIRST_OF_FILE.name, SECOND_OF_FILE.name];
  const file = { PAYMENTS_FILE: paymentsFile };
  const connected = {
    ...file,
    [FIRST_OF_FILE.rpcVariable]: first.rpcUrl,
    [SECOND_OF_FILE.rpcVariable]: second.rpcUrl,
  };
  const keys = {
    [FIRST_OF_FILE.relayersVariable]: listKeys(first, relayers),
    [SECOND_OF_FILE.relayersVariable]: listKeys(second, relayers),
  };
  return {
    gateway: [file],
    verifier: names.map((name) => ({ ...connected, ...keys, CHAIN: name })),
    'agent-worker': agents.map(({ workerEnv }, index) => ({ ...connected, ...workerEnv, CHAIN: names[index] })),
    bookkeeper: [connected],
  };
}

function listKeys({ relayers }: Devnet, count: number): string {
  const used = relayers.slice(0, count);
  return used.map(({ privateKey }) => privateKey).join(',');
}
