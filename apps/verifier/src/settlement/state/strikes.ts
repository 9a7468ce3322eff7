import type { Hex } from '@tollgate/protocol';
import { LuaScript } from '@tollgate/redis';
import type { Redis } from 'ioredis';

import countFromFirst from './scripts/count-from-first.lua';

/** The number of failed transactions after which a payer is barred. */
const MOST_BURNS = 5;
const KEPT_MS = 3_600_000;

const NOTE = new LuaScript(countFromFirst);

/**
 * Payers whose payments fail on the chain although their simulation succeeded: a wallet's code may distinguish the two,
 * and signing costs the payer nothing. Each failed transaction counts for an hour, over all verifiers.
 */
export class Strikes {
  constructor(private readonly redis: Redis) {}

  /** Call when a transaction was mined and this payer's payment failed in it, whatever became of others there. */
  async note(payer: Hex): Promise<void> {
    await NOTE.run(this.redis, keyOf(payer), [KEPT_MS]);
  }

  /** Returns those of the payers for whom nothing is sent for now. */
  async findBarred(payers: readonly Hex[]): Promise<ReadonlySet<Hex>> {
    const counts = await Promise.all(
      [...new Set(payers)].map(async (payer) => [payer, await this.#count(payer)] as const),
    );
    return new Set(counts.flatMap(([payer, count]) => (count >= MOST_BURNS ? [payer] : [])));
  }

  async #count(payer: Hex): Promise<number> {
    return Number((await this.redis.get(keyOf(payer))) ?? 0);
  }
}

/** A Redis Cluster slot for each payer. */
function keyOf(payer: Hex): string {
  return `tollgate:{burnt-${payer}}`;
}
