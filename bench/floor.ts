import type { Devnet } from '../tools/devnet/chain/chain.js';
import { startRedis } from '../tools/devnet/processes/redis.js';
import { startProgram } from '../tools/devnet/processes/start-program.js';
import { CHALLENGE_SECRET, readRedisPid } from './tollgate.js';
import type { KeepUntilEnd } from './with-cleanup.js';

export interface Floor {
  url: string;
  pid: number;
  redisPid: number;
  startUpMs: number;
}

/** Starts the rules in one process, with a Redis of its own: see programs/floor.ts. */
export async function startFloor(
  { chain, rpcUrl }: { chain: Devnet; rpcUrl: string },
  keep: KeepUntilEnd,
): Promise<Floor> {
  const redis = keep(await startRedis());
  const { url, pid, startUpMs } = keep(
    await startProgram(['bench/programs/floor.ts'], {
      REDIS_URL: redis.url,
      RPC_URL: rpcUrl,
      CHAIN_ID: String(chain.chainId),
      ASSET_ADDRESS: chain.asset,
      PAY_TO: chain.payTo,
      CHALLENGE_SECRET,
    }),
  );
  return { url: `${url}/api/weather`, pid, redisPid: await readRedisPid(redis.url), startUpMs };
}
