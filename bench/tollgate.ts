import { Redis } from 'ioredis';

import type { Devnet } from '../tools/devnet/chain/chain.js';
import type { RedisServer } from '../tools/devnet/processes/redis.js';
import type { ServiceProcess } from '../tools/devnet/processes/service-process.js';
import { startStack } from '../tools/devnet/stack/stack.js';
import type { Roles } from './process-usage.js';
import { profileArgs } from './profile/profile-processes.js';

/** Shared by all subjects that issue or read references. */
export const CHALLENGE_SECRET = 'a-secret-that-only-the-benchmark-knows';

/**
 * As shipped, but for two things: payments are mined long before they are presented, so the redemption window is a day;
 * and only warnings are logged, because this process would have to read what the services print.
 */
const SETTINGS = {
  NODE_ENV: 'production',
  CHALLENGE_SECRET,
  LOG_LEVEL: 'warn',
  REDEMPTION_WINDOW_SECONDS: '86400',
  BOUND_REDEMPTION_WINDOW_SECONDS: '86400',
};

export interface BenchServers {
  /** As services take it. */
  url: string;
  servers: readonly RedisServer[];
}

export interface TollgateOptions {
  chain: Devnet;
  /** Where the verifiers reach the chain, when not directly. */
  rpcUrl?: string;
  gateways?: number;
  verifiers?: number;
  /** Servers that run already; by default Tollgate has one of its own. */
  redis?: BenchServers;
  env?: Record<string, string>;
}

export interface Tollgate {
  /** The paid resource at the first gateway, and at each. */
  url: string;
  urls: string[];
  redisUrl: string;
  gateways: ServiceProcess[];
  verifiers: ServiceProcess[];
  roles: Roles;
  stop: () => Promise<void>;
}

/** Starts the built services with a Redis of their own. */
export async function startTollgate({
  chain,
  rpcUrl = chain.rpcUrl,
  gateways = 1,
  verifiers = 1,
  redis,
  env = {},
}: TollgateOptions): Promise<Tollgate> {
  const [first] = redis?.servers ?? [];
  const stack = await startStack({
    ...(redis && first ? { redis: { ...first, url: redis.url } } : {}),
    ...{ chain, gateways, verifiers, env: { ...SETTINGS, RPC_URL: rpcUrl, ...env } },
    nodeArgs: { gateway: profileArgs('gateway'), verifier: profileArgs('verifier') },
  });
  const urls = stack.gateways.map(({ url }) => `${url}/api/weather`);
  return {
    url: urls[0] ?? '',
    urls,
    redisUrl: stack.redis.url,
    gateways: stack.gateways,
    verifiers: stack.verifiers,
    roles: {
      gateway: stack.gateways.map(({ pid }) => pid),
      verifier: stack.verifiers.map(({ pid }) => pid),
      redis: await Promise.all((redis?.servers ?? [stack.redis]).map(({ url }) => readRedisPid(url))),
    },
    stop: () => stack.stop(),
  };
}

/** The id of the Redis server's process. */
export async function readRedisPid(url: string): Promise<number> {
  const redis = new Redis(url);
  try {
    return Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
  } finally {
    redis.disconnect();
  }
}
