import 'reflect-metadata';
import { ConfigurationError, examineEnvironment } from '@tollgate/common';

import { AgentWorkerEnvironment } from '../../apps/agent-worker/src/config/agent-worker.config.js';
import { BookkeeperEnvironment } from '../../apps/bookkeeper/src/config/bookkeeper.config.js';
import { readConfiguration } from '../../apps/gateway/src/read-configuration.js';
import { VerifierEnvironment } from '../../apps/verifier/src/config/verifier.config.js';
import { readDevSettings, type DevSettings } from './dev-settings.js';
import type { ServiceApp } from './processes/service-process.js';

const ANY_ADDRESS = `0x${'11'.repeat(20)}`;
const OTHER_ADDRESS = `0x${'22'.repeat(20)}`;
const ANY_KEY = `0x${'11'.repeat(32)}`;

/** Placeholders for values that are known once Redis and the chain run. */
const STAND_INS: NodeJS.ProcessEnv = {
  REDIS_URL: 'redis://127.0.0.1:6379',
  RPC_URL: 'http://127.0.0.1:8545',
  ASSET_ADDRESS: ANY_ADDRESS,
  PAY_TO: OTHER_ADDRESS,
};

/** Reads the configuration of each service, including the files that its settings name. */
const READERS: Record<ServiceApp, (env: NodeJS.ProcessEnv) => readonly string[]> = {
  verifier: (env) => examineEnvironment(VerifierEnvironment, env).problems,
  'agent-worker': (env) => examineEnvironment(AgentWorkerEnvironment, { WALLET_PRIVATE_KEY: ANY_KEY, ...env }).problems,
  bookkeeper: (env) => examineEnvironment(BookkeeperEnvironment, { BOOK_SIGNING_KEY: ANY_KEY, ...env }).problems,
  gateway: (env) => problemsOf(() => readConfiguration(env)),
};

/**
 * Reads the settings of a devnet and of all its services before any is started.
 * @param servicesEnv the services' settings without the addresses of Redis, chain and each other
 * @throws ConfigurationError listing every problem once, with the services that have it
 */
export function checkSettings(env: NodeJS.ProcessEnv, servicesEnv: NodeJS.ProcessEnv): DevSettings {
  const concerned = new Map<string, string[]>();
  const note = (who: string, problems: readonly string[]) => {
    for (const problem of problems) concerned.set(problem, [...(concerned.get(problem) ?? []), who]);
  };
  note(
    'npm run dev',
    problemsOf(() => readDevSettings(env)),
  );
  for (const [app, read] of Object.entries(READERS)) note(app, read({ ...STAND_INS, ...servicesEnv }));
  if (concerned.size === 0) return readDevSettings(env);
  throw new ConfigurationError([...concerned].map(([problem, who]) => `${problem} (${who.join(', ')})`));
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
