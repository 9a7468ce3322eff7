import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { createOwnFolder } from '../../../scripts/process-identity.mjs';
import { isRedisUrlAnswering } from '../../../scripts/setup/ask-redis.mjs';
import {
  findRedis70,
  findRedisServer,
  nameServer,
  type RedisProgram,
  WITHOUT_REDIS_7_0,
} from '../../../scripts/setup/find-redis-server.mjs';
import { startChild, type Child, type Exit } from './child-process.js';
import { assignSlots } from './cluster-servers.js';
import { findFreePort } from './free-port.js';
import { repositoryRoot, stateDirectory } from './repository.js';

export interface RedisOptions {
  /** Where it keeps its files; without it a new folder that stop() removes. */
  dir?: string;
  /** Files of another one, which is stopped, that it starts with. */
  copyOf?: string;
  appendonly?: boolean;
  appendfsync?: 'always' | 'everysec' | 'no';
  port?: number;
  /** No cluster of one, even where ONE_SLOT_ONLY is set. */
  plain?: boolean;
  /** Redis 7.0, the oldest that Tollgate supports, instead of the server of all other tests. */
  isOldest?: boolean;
  /** Further arguments, e.g. `['--maxmemory', '4mb']`. */
  args?: string[];
}

/**
 * With this variable set, a server without further arguments is a cluster of one unless it is `plain`: it has all slots, and
 * refuses every command and script that touches two. `npm run test:cluster` runs specs of the stores so.
 */
const ONE_SLOT_ONLY = 'TOLLGATE_TEST_ONE_SLOT_ONLY';
const READY_WITHIN_MS = 30_000;

export interface RedisServer {
  url: string;
  port: number;
  dir: string;
  /** SIGKILL: data that is not on disk is lost. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and files. */
  start(): Promise<void>;
  /** SIGSTOP and SIGCONT make it hang and go on. */
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the running process ends, for whatever reason. */
  exited(): Promise<Exit>;
  logs: () => string;
  /** Lets this process end while it runs, and ends it then. */
  unref(): void;
  stop(): Promise<void>;
}

/**
 * Starts a Redis server on 127.0.0.1, by default append-only with `appendfsync always`, and waits until it is ready.
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const ownsDirectory = options.dir === undefined;
  const dir = options.dir ?? createDirectory();
  mkdirSync(dir, { recursive: true });
  if (options.copyOf !== undefined) cpSync(options.copyOf, dir, { recursive: true });
  const first = await launch(options, dir, { port: options.port });
  const { port, bus } = first;
  let child = first.child;
  if (isOneSlotOnly(options)) {
    await takeAllSlots(port).catch(async (error: unknown) => {
      await child.end('SIGKILL');
      throw error;
    });
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    dir,
    kill: async () => {
      await child.end('SIGKILL');
    },
    start: async () => {
      if (child.hasExited()) child = (await launch(options, dir, { port, bus })).child;
    },
    signal: (signal) => child.signal(signal),
    exited: () => child.exited,
    logs: () => child.logs(),
    unref: () => child.unref(),
    stop: async () => {
      child.signal('SIGCONT');
      await child.end('SIGTERM');
      if (ownsDirectory) rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The Redis at the given address, if one answers there; else a new one. */
export async function openRedis(url: string | undefined): Promise<RedisServer> {
  return (await findRedis(url)) ?? startRedis();
}

/** The Redis at the given address; null if none is given, or none answers there, which is said. */
export async function findRedis(url: string | undefined): Promise<RedisServer | null> {
  if (url === undefined || url === '') return null;
  if (await isRedisUrlAnswering(url)) return describeForeignRedis(url);
  console.error('No Redis answers at REDIS_URL; starting one.');
  return null;
}

/** A server that was not started here: it can be used, but neither stopped nor killed. */
function describeForeignRedis(url: string): RedisServer {
  const refuse = () => Promise.reject(new Error('this Redis was not started here'));
  return {
    url,
    port: Number(new URL(url).port || 6379),
    dir: '',
    kill: refuse,
    start: refuse,
    signal: () => undefined,
    exited: () => new Promise(() => undefined),
    logs: () => '',
    unref: () => undefined,
    stop: () => Promise.resolve(),
  };
}

/** Name and version of the server that `startRedis` starts; another one may not read its files. */
export function redisServerName(): string {
  return nameServer(findProgram());
}

function findProgram({ isOldest = false }: RedisOptions = {}): RedisProgram {
  const program = isOldest ? findRedis70(repositoryRoot()) : findRedisServer(repositoryRoot());
  if (program) return program;
  const missing = 'There is no Valkey, nor a Redis of version 7.2 or newer: run `npm run setup -- --tests`.';
  throw new Error(isOldest ? WITHOUT_REDIS_7_0 : missing);
}

/** Named after this process, so that a later one can remove it if this one is killed. */
function createDirectory(): string {
  const parent = stateDirectory();
  mkdirSync(parent, { recursive: true });
  return createOwnFolder(parent, 'redis');
}

/** With a given port, that port or an error; without one, another port if the first was taken meanwhile. */
async function launch(
  options: RedisOptions,
  dir: string,
  wanted: { port?: number | undefined; bus?: number | undefined },
): Promise<{ child: Child; port: number; bus: number }> {
  const program = findProgram(options);
  const isClustered = isOneSlotOnly(options) || options.args?.includes('--cluster-enabled');
  for (let attempt = 1; ; attempt++) {
    const port = wanted.port ?? (await findFreePort());
    // The default, 10,000 above the other port, is an ephemeral port: a connection of any process may have it.
    const bus = wanted.bus ?? (await findFreePort());
    const own = isClustered ? ['--cluster-port', String(bus)] : [];
    const child = await startChild({
      name: 'redis',
      command: program.command,
      args: [...serverArguments(options, dir, port), ...own],
      env: { ...process.env, ...program.environment },
    });
    try {
      // Its own log line, because an answer on the port may be another server's. After a restart it comes once the files are read.
      await child.waitForLine(/Ready to accept connections/, READY_WITHIN_MS);
      return { child, port, bus };
    } catch (error) {
      await child.end('SIGKILL');
      if (wanted.port !== undefined || attempt === 5 || !child.logs().includes('Address already in use')) throw error;
    }
  }
}

function isOneSlotOnly({ args, plain }: RedisOptions): boolean {
  return args === undefined && !plain && process.env[ONE_SLOT_ONLY] !== undefined;
}

/** Its file of nodes brings the slots back when it starts again. */
async function takeAllSlots(port: number): Promise<void> {
  const redis = new Redis({ port });
  try {
    await assignSlots([redis]);
    const giveUpMs = Date.now() + READY_WITHIN_MS;
    for (let info = ''; !info.includes('cluster_state:ok'); info = await redis.cluster('INFO')) {
      if (Date.now() > giveUpMs) throw new Error(`redis does not serve its slots:\n${info}`);
      await sleep(20);
    }
  } finally {
    redis.disconnect();
  }
}

function serverArguments(options: RedisOptions, dir: string, port: number): string[] {
  const { appendonly = true, appendfsync = 'always', args = [] } = options;
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir,
    appendonly: appendonly ? 'yes' : 'no',
    appendfsync,
    save: '',
    daemonize: 'no',
  };
  const cluster = isOneSlotOnly(options) ? ['--cluster-enabled', 'yes'] : [];
  return [...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]), ...cluster, ...args];
}
