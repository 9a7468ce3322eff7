import { Redis } from 'ioredis';

import type { Devnet } from '../tools/devnet/chain/chain.js';
import type { TwoChains } from '../tools/devnet/chain/two-chains.js';
import { startRedis, type RedisServer } from '../tools/devnet/processes/redis.js';
import { startProgram } from '../tools/devnet/processes/start-program.js';
import { startStack } from '../tools/devnet/stack/stack.js';
import type { PaidTarget } from './load.js';
import { profileArgs } from './profile-processes.js';
import type { KeepUntilEnd } from './with-cleanup.js';

/** Shared by all subjects that issue or read references. */
const CHALLENGE_SECRET = 'a-secret-that-only-the-benchmark-knows';
const PATH = '/api/weather';
const HEADER = 'x-payment';

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
  /** With two chains the payments file describes the options. */
  chain: Devnet | TwoChains;
  /** Where the verifiers reach the chain. */
  rpcUrl?: string;
  name?: string;
  /** Servers that run already; by default Tollgate has one of its own. */
  redis?: BenchServers;
  env?: Record<string, string>;
}

/** Starts one gateway and one verifier of the build. */
export async function startTollgate(
  { chain, rpcUrl, name = 'tollgate', redis, env = {} }: TollgateOptions,
  keep: KeepUntilEnd,
): Promise<PaidTarget> {
  const [first] = redis?.servers ?? [];
  const stack = keep(
    await startStack({
      ...(redis && first ? { redis: { ...first, url: redis.url } } : {}),
      ...('paymentsFile' in chain ? { twoChains: chain } : { chain }),
      env: { ...SETTINGS, ...(rpcUrl === undefined ? {} : { RPC_URL: rpcUrl }), ...env },
      nodeArgs: { gateway: profileArgs('gateway'), verifier: profileArgs('verifier') },
    }),
  );
  const roles = {
    gateway: stack.gateways.map(({ pid }) => pid),
    verifier: stack.verifiers.map(({ pid }) => pid),
    redis: await Promise.all((redis?.servers ?? [stack.redis]).map(({ url }) => readRedisPid(url))),
  };
  return { name, url: stack.baseUrl + PATH, header: HEADER, roles };
}

/** Starts the rules in one process, with a Redis of its own: see programs/floor.ts. */
export async function startFloor(chain: Devnet, rpcUrl: string, keep: KeepUntilEnd): Promise<PaidTarget> {
  const redis = keep(await startRedis());
  const { url, pid } = keep(
    await startProgram(['bench/programs/floor.ts'], {
      REDIS_URL: redis.url,
      RPC_URL: rpcUrl,
      CHAIN_ID: String(chain.chainId),
      ASSET_ADDRESS: chain.asset,
      PAY_TO: chain.payTo,
      CHALLENGE_SECRET,
    }),
  );
  const roles = { server: [pid], redis: [await readRedisPid(redis.url)] };
  return { name: 'one process', url: url + PATH, header: HEADER, roles };
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
