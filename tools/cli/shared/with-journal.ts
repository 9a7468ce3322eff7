import { readChainId } from '@tollgate/chain';
import { Chain, Journal } from '@tollgate/journal';
import { type Durability, StoreError, StoreUnavailableError, type RedisClient } from '@tollgate/redis';

import { CommandError } from './cli-command.js';
import type { CommandPlace } from './find-place.js';
import { withRedis } from './with-redis.js';

const TIMEOUT_MS = 5000;

/**
 * Runs the work with the wallets' journal. `durability`: of its writes, and of the jobs that it reads by their ids.
 * @throws CommandError when Redis does not answer, or is unfit for a journal
 */
export function withJournal<T>(
  redisPlace: CommandPlace,
  work: (journal: Journal, redis: RedisClient) => Promise<T>,
  durability: Durability | null = null,
): Promise<T> {
  return withRedis(redisPlace, async (redis) => {
    const journal = new Journal({ redis, durability });
    await journal.open();
    return work(journal, redis);
  }).catch((error: unknown) => {
    if (error instanceof StoreUnavailableError) {
      const { message, hint } = error;
      throw new CommandError(`${message} (${hint} What the command changes may be changed: run it again.)`);
    }
    throw error instanceof StoreError ? new CommandError(`${error.message} ${error.hint}`) : error;
  });
}

/** Runs the work with the chain, and closes it. */
export async function withChain<T>(
  chainId: number,
  rpcUrls: readonly string[],
  work: (chain: Chain) => Promise<T>,
): Promise<T> {
  const chain = new Chain({ chainId, rpcUrls, timeoutMs: TIMEOUT_MS });
  try {
    return await work(chain);
  } finally {
    await chain.close();
  }
}

/** The chain of the first RPC server that answers. */
export async function findChainId([rpcUrl, ...others]: readonly string[]): Promise<number> {
  if (rpcUrl === undefined) throw new Error('No RPC server answered.');
  return readChainId(rpcUrl, TIMEOUT_MS).catch(() => findChainId(others));
}
