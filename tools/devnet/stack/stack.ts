import { randomBytes } from 'node:crypto';

import { startChain, type Devnet } from '../chain/chain.js';
import { SECOND_OF_FILE } from '../chain/payments-file.js';
import type { TwoChains } from '../chain/two-chains.js';
import type { Exit } from '../processes/child-process.js';
import { findFreePort } from '../processes/free-port.js';
import { keepParts } from '../processes/keep-parts.js';
import { startRedis, type RedisServer } from '../processes/redis.js';
import {
  startService,
  type ServiceApp,
  type ServiceOptions,
  type ServiceProcess,
} from '../processes/service-process.js';
import { alignRelayers } from './adopt-wallets.js';
import { setUpAgents, type AgentSetup, type AgentWalletTerms } from './agent-setup.js';
import { describeChain, describeTwoChains } from './chain-settings.js';

export interface StackOptions {
  /** Settings of every service; they override those of the stack. */
  env?: NodeJS.ProcessEnv;
  /** Settings of each kind of service; they override all others. */
  serviceEnv?: Partial<Record<ServiceApp, NodeJS.ProcessEnv>>;
  /** A Redis and a chain that run already are used, and left alone by stop(). */
  redis?: RedisServer;
  chain?: Devnet;
  /** Instead of `chain`: sells for three tokens on two chains, with verifiers and agent workers for each of them. */
  twoChains?: Omit<TwoChains, 'stop'>;
  /** Passed on to the chain that the stack starts: see `startChain`. */
  protocols?: boolean;
  gateways?: number;
  verifiers?: number;
  /** Number of relayers of all verifiers of a chain, at most two; default 1. */
  relayers?: number;
  /** With any, the stack sets up wallets for them, and its gateways accept jobs. */
  agentWorkers?: number;
  /** With one, the services report to the book (BOOK=on), and a bookkeeper keeps it in a folder. */
  book?: { folder: string; signingKey: string };
  /** The agent wallets by name, at most four; default `devnet`, and with a book `refunds`, with no limits. */
  agentWallets?: Readonly<Record<string, AgentWalletTerms>>;
  /** Whose build the services run: see `startService`. */
  checkout?: string;
  /** Runs all services from their sources: see `startService`. */
  fromSources?: boolean;
  /** Runs these services with crash points, and with this module loaded first: see `startService`. */
  preload?: Partial<Record<ServiceApp, string>>;
  /** Further options of Node for these services. */
  nodeArgs?: Partial<Record<ServiceApp, readonly string[]>>;
  /** Ports to take if they are free. Without one a service gets any free port. */
  wantedPorts?: Partial<Record<ServiceApp, number>>;
  /** If false, the services' output goes to stderr, each line with the service's name. */
  quiet?: boolean;
  /** Called for each part when it is ready. */
  onReady?: (part: string, url: string) => void;
}

export interface Stack {
  /** The first gateway's address. */
  baseUrl: string;
  gateways: ServiceProcess[];
  verifiers: ServiceProcess[];
  agentWorkers: ServiceProcess[];
  /** Null without a book. */
  bookkeeper: ServiceProcess | null;
  /** Null without agent workers. */
  agents: AgentSetup | null;
  redis: RedisServer;
  /** The first one. */
  chain: Devnet;
  /** Resolves with the name, end and last lines of the first process that ends before stop() was called. */
  firstFailure: Promise<ProcessFailure>;
  /** The last lines of every process. */
  logs: () => string;
  /** Ends everything that the stack started: gateways first, Redis and chain last. */
  stop: () => Promise<void>;
}

export interface ProcessFailure {
  name: string;
  exit: Exit;
  logs: string;
}

const PORT_SETTINGS = {
  gateway: 'PORT',
  verifier: 'VERIFIER_PORT',
  'agent-worker': 'AGENT_WORKER_PORT',
  bookkeeper: 'BOOKKEEPER_PORT',
} as const;

/** Starts Redis, a chain and the built services as real processes on free ports, and waits until all are ready. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const { gateways = 1, verifiers = 1, agentWorkers = 0, quiet = true, onReady = () => undefined } = options;
  // Stopped in reverse: no service should see Redis or the chain go before itself.
  const { keep, stop } = keepParts();

  try {
    const redis = options.redis ?? keep(await startRedis());
    onReady('redis', redis.url);
    const { twoChains } = options;
    const chain =
      twoChains?.first ?? options.chain ?? keep(await startChain({ protocols: options.protocols ?? false }));
    const chains = twoChains === undefined ? [chain] : [chain, twoChains.second];
    for (const { rpcUrl } of chains) onReady('chain', rpcUrl);
    const agents: AgentSetup[] = [];
    for (const [index, one] of agentWorkers === 0 ? [] : chains.entries()) {
      const wallets = index === 0 ? walletsOf(options) : { [`refunds-${SECOND_OF_FILE.name}`]: {} };
      agents.push(keep(await setUpAgents({ chain: one, redis, wallets, agentSecret: options.env?.['AGENT_SECRET'] })));
    }
    const { relayers = 1 } = options;
    for (const { isNew, rpcUrl, chainId, relayers: accounts } of chains)
      if (isNew) await alignRelayers({ redisUrl: redis.url, rpcUrl, chainId, relayers: accounts.slice(0, relayers) });
    const served = { relayers, agents };
    const ofChains = twoChains === undefined ? describeChain(chain, served) : describeTwoChains(twoChains, served);
    const own: Partial<Record<ServiceApp, NodeJS.ProcessEnv>> = {
      bookkeeper: {
        BOOK_FOLDER: options.book?.folder,
        BOOK_SIGNING_KEY: options.book?.signingKey,
        // A devnet replaces no block.
        RECONCILE_CONFIRMATIONS: '1',
        RECONCILE_INTERVAL_MS: '1000',
      },
    };
    const book = { BOOK: options.book === undefined ? undefined : 'on' };
    const settings = createSettings(redis, { ...agents[0]?.env, ...book, ...options.env });
    const start = async (app: ServiceApp, count: number) => {
      const services: ServiceProcess[] = [];
      const wanted = ofChains[app].flatMap((ofChain) => Array.from({ length: count }, () => ofChain));
      for (const [index, ofChain] of wanted.entries()) {
        const name = wanted.length === 1 ? app : `${app}-${index + 1}`;
        const wantedPort = index === 0 ? options.wantedPorts?.[app] : undefined;
        const preload = options.preload?.[app];
        services.push(
          keep(
            await startOnFreePort(wantedPort, {
              app,
              name,
              env: { ...own[app], ...ofChain, ...settings, ...options.serviceEnv?.[app] },
              preload,
              nodeArgs: options.nodeArgs?.[app],
              checkout: options.checkout,
              fromSources: options.fromSources,
              onLine: quiet ? undefined : (line) => void process.stderr.write(`${name} | ${line}\n`),
            }),
          ),
        );
        onReady(name, services.at(-1)?.url ?? '');
      }
      return services;
    };
    const [bookkeeper = null] = await start('bookkeeper', options.book === undefined ? 0 : 1);
    const verifierProcesses = await start('verifier', verifiers);
    const workerProcesses = await start('agent-worker', agentWorkers);
    const gatewayProcesses = await start('gateway', gateways);

    const watched = [
      { name: 'redis', exited: redis.exited(), logs: redis.logs },
      ...chains.map((one) => ({ name: 'chain', exited: one.exited(), logs: one.logs })),
      ...[...gatewayProcesses, ...verifierProcesses, ...workerProcesses],
      ...(bookkeeper === null ? [] : [bookkeeper]),
    ];
    return {
      baseUrl: gatewayProcesses[0]?.url ?? '',
      gateways: gatewayProcesses,
      verifiers: verifierProcesses,
      agentWorkers: workerProcesses,
      bookkeeper,
      agents: agents[0] ?? null,
      redis,
      chain,
      firstFailure: Promise.race(
        watched.map(async ({ name, exited, logs }) => ({ name, exit: await exited, logs: logs() })),
      ),
      logs: () => watched.map(({ name, logs }) => `--- ${name}\n${logs()}`).join('\n'),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function walletsOf({ agentWallets, book }: StackOptions): Readonly<Record<string, AgentWalletTerms>> {
  return agentWallets ?? { devnet: {}, ...(book && { refunds: {} }) };
}

/**
 * Only the variables that every program needs are inherited: a setting in the developer's shell must not change a test.
 */
function createSettings(redis: RedisServer, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, TZ } = process.env;
  const settings: NodeJS.ProcessEnv = {
    PATH,
    HOME,
    TMPDIR,
    TZ,
    REDIS_URL: redis.url,
    QUEUE_REDIS_URL: redis.url,
    // There is no balancer that has to notice that a local gateway stops.
    DRAIN_MS: '0',
    ...env,
  };
  if (!settings['CHALLENGE_SECRET'] && !settings['CHALLENGE_SECRET_FILE']) {
    settings['CHALLENGE_SECRET'] = randomBytes(32).toString('hex');
  }
  return settings;
}

/** Tries again if another process took the port between the search and the service's start. */
async function startOnFreePort(
  wanted: number | undefined,
  options: Omit<ServiceOptions, 'url'>,
): Promise<ServiceProcess> {
  const { app, env } = options;
  const host = (app === 'verifier' ? env['VERIFIER_HOST'] : env['HOST']) ?? '127.0.0.1';
  const scheme = app === 'gateway' && env['TLS_CERT'] ? 'https' : 'http';
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort(wanted, host);
    const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
    const url = `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
    try {
      return await startService({ ...options, url, env: { ...env, [PORT_SETTINGS[app]]: String(port) } });
    } catch (error) {
      if (attempt === 3 || !String(error).includes('EADDRINUSE')) throw error;
    }
  }
}
