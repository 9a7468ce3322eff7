import 'reflect-metadata';
import { randomBytes } from 'node:crypto';

import { ConfigurationError, examineEnvironment } from '@tollgate/config';

import { AgentWorkerEnvironment } from '../../apps/agent-worker/src/config/agent-worker.config.js';
import { BookEnvironment } from '../../apps/bookkeeper/src/config/book.environment.js';
import { BookkeeperEnvironment } from '../../apps/bookkeeper/src/config/bookkeeper.config.js';
import { readConfiguration } from '../../apps/gateway/src/read-configuration.js';
import { VerifierEnvironment } from '../../apps/verifier/src/config/verifier.config.js';
import { FIRST_OF_FILE, SECOND_OF_FILE } from './chain/payments-file.js';
import type { ServiceApp } from './processes/service-process.js';

const USUAL_PORTS = { PORT: 4020, VERIFIER_PORT: 4021, AGENT_WORKER_PORT: 4022, BOOKKEEPER_PORT: 4023 } as const;
type PortName = keyof typeof USUAL_PORTS;

/** The settings of `npm run dev` itself, which the services check; none gets them unchanged. */
interface DevSettings {
  /** 0 takes any that is free. */
  readonly ports: Readonly<Record<PortName, number>>;
  /** Undefined: the devnet's own. */
  readonly chainId: number | undefined;
  /** The developer's own database of the book; undefined: a folder of the devnet. */
  readonly bookDatabaseUrl: string | undefined;
}

/** The developer's own settings, without those that this devnet sets itself (addresses and folders of its parts). */
export function chosenSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const decided = [
    ...['REDIS_URL', 'QUEUE_REDIS_URL', 'RPC_URL', 'CHAIN_ID', 'ASSET_ADDRESS', ...Object.keys(USUAL_PORTS)],
    ...['PAYMENTS_FILE', 'CHAIN'],
    ...['WALLET_PRIVATE_KEY', 'WALLET_PRIVATE_KEY_FILE', 'WALLETS_FILE', 'POLICY_FILE'],
    ...['RELAYER_PRIVATE_KEYS', 'RELAYER_PRIVATE_KEYS_FILE', 'BOOK_FOLDER'],
  ];
  return Object.fromEntries(Object.entries(env).filter(([name]) => !decided.includes(name)));
}

/** The warning that links under PUBLIC_URL lead to another program, which has the port; null if they do not. */
export function warnOfPublicUrl(publicUrl: string | undefined, wantedPort: number, baseUrl: string): string | null {
  if (!publicUrl || wantedPort === 0 || portOf(baseUrl) === wantedPort || portOf(publicUrl) !== wantedPort) return null;
  return `PUBLIC_URL names port ${wantedPort}, which was taken: the gateway listens at ${baseUrl}, and ${publicUrl} is another program.`;
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

const ANY_ADDRESS = `0x${'11'.repeat(20)}`;
const OTHER_ADDRESS = `0x${'22'.repeat(20)}`;
const ANY_KEY = `0x${randomBytes(32).toString('hex')}`;

/** Placeholders for values that are known once Redis and the chain run. */
const STAND_INS: NodeJS.ProcessEnv = { REDIS_URL: 'redis://127.0.0.1:6379' };
const ANY_RPC_URL = 'http://127.0.0.1:8545';
const ONE_CHAIN: NodeJS.ProcessEnv = { RPC_URL: ANY_RPC_URL, ASSET_ADDRESS: ANY_ADDRESS, PAY_TO: OTHER_ADDRESS };
const TWO_CHAINS: NodeJS.ProcessEnv = Object.fromEntries(
  [FIRST_OF_FILE, SECOND_OF_FILE].flatMap(({ rpcVariable, relayersVariable }) => [
    [rpcVariable, ANY_RPC_URL],
    [relayersVariable, ANY_KEY],
  ]),
);

/** Reads the configuration of each service, including the files that its settings name. */
const READERS: Record<ServiceApp, (env: NodeJS.ProcessEnv) => readonly string[]> = {
  verifier: (env) => examineEnvironment(VerifierEnvironment, env).problems,
  'agent-worker': (env) => examineEnvironment(AgentWorkerEnvironment, { WALLET_PRIVATE_KEY: ANY_KEY, ...env }).problems,
  bookkeeper: (env) => examineEnvironment(BookkeeperEnvironment, { BOOK_SIGNING_KEY: ANY_KEY, ...env }).problems,
  gateway: (env) => problemsOf(() => readConfiguration(env)),
};

/**
 * Reads the settings of a devnet and of all its services before any is started.
 * @param servicesEnv the services' settings without the addresses of Redis, chains and each other; with PAYMENTS_FILE there
 * are two chains
 * @throws ConfigurationError listing every problem once, with the services that have it
 */
export function checkSettings(env: NodeJS.ProcessEnv, servicesEnv: NodeJS.ProcessEnv): DevSettings {
  const ofChains = servicesEnv['PAYMENTS_FILE'] ? TWO_CHAINS : { ...ONE_CHAIN, CHAIN_ID: env['CHAIN_ID'] };
  const own = Object.fromEntries(Object.keys(USUAL_PORTS).map((name) => [name, env[name]]));
  const concerned = new Map<string, string[]>();
  for (const [app, read] of Object.entries(READERS)) {
    for (const problem of read({ ...STAND_INS, ...ofChains, ...own, ...servicesEnv }))
      concerned.set(problem, [...(concerned.get(problem) ?? []), app]);
  }
  if (concerned.size > 0)
    throw new ConfigurationError([...concerned].map(([problem, apps]) => `${problem} (${apps.join(', ')})`));
  const numberOf = (name: PortName) => Number(env[name] || USUAL_PORTS[name]);
  return {
    ports: {
      PORT: numberOf('PORT'),
      VERIFIER_PORT: numberOf('VERIFIER_PORT'),
      AGENT_WORKER_PORT: numberOf('AGENT_WORKER_PORT'),
      BOOKKEEPER_PORT: numberOf('BOOKKEEPER_PORT'),
    },
    chainId: env['CHAIN_ID'] ? Number(env['CHAIN_ID']) : undefined,
    bookDatabaseUrl: examineEnvironment(BookEnvironment, { BOOK_SIGNING_KEY: ANY_KEY, ...servicesEnv }).result
      .bookDatabaseUrl,
  };
}

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}
