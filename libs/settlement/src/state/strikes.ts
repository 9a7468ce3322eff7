import type { Hex } from '@tollgate/protocol';
import { LuaScript, type RedisClient } from '@tollgate/redis';

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
  constructor(private readonly redis: RedisClient) {}

  /** Call when a transaction was mined and this payer's payment failed in it, whatever became of others there. */
  async note(payer: Hex): Promise<void> {
    await NOTE.run(this.redis, keyOf(payer), [KEPT_MS]);
  }

  /** Returns those of the payers for whom nothing is sent for now. */
  async findBarred(payers: readonly Hex[]): Promise<ReadonlySet<Hex>> {
    const asked = [...new Set(payers)];
    const burns = await Promise.all(asked.map((payer) => this.redis.get(keyOf(payer))));
    return new Set(asked.filter((_, index) => Number(burns[index] ?? 0) >= MOST_BURNS));
  }
}

/** A Redis Cluster slot for each payer. */
function keyOf(payer: Hex): string {
  return `tollgate:{burnt-${payer}}`;
}
