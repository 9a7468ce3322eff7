import type { Devnet } from '../tools/devnet/chain/chain.js';
import { startRedis } from '../tools/devnet/processes/redis.js';
import { startProgram } from '../tools/devnet/processes/start-program.js';
import { CHALLENGE_SECRET, readRedisPid } from './tollgate.js';

export interface Floor {
  url: string;
  pid: number;
  redisPid: number;
  startUpMs: number;
  stop: () => Promise<void>;
}

/** Starts the rules in one process, with a Redis of its own: see programs/floor.ts. */
export async function startFloor({ chain, rpcUrl }: { chain: Devnet; rpcUrl: string }): Promise<Floor> {
  const redis = await startRedis();
  try {
    const program = await startProgram(['bench/programs/floor.ts'], {
      REDIS_URL: redis.url,
      RPC_URL: rpcUrl,
      CHAIN_ID: String(chain.chainId),
      ASSET_ADDRESS: chain.asset,
      PAY_TO: chain.payTo,
      CHALLENGE_SECRET,
    });
    return {
      url: `${program.url}/api/weather`,
      pid: program.pid,
      redisPid: await readRedisPid(redis.url),
      startUpMs: program.startUpMs,
      stop: async () => {
        await program.stop();
        await redis.stop();
      },
    };
  } catch (error) {
    await redis.stop();
    throw error;
  }
}
