import { createLaneId, nameLane, readLaneName, type LaneId } from '@tollgate/journal';
import type { RedisClient } from '@tollgate/redis';

import { parseKnownTokens, type KnownToken } from './known-token.js';

const WALLETS = 'tollgate:{wallets}';
const TOKENS = 'tollgate:{wallets}:tokens';

/** The public data of a wallet: its name and its account on one chain. */
export interface WalletEntry {
  name: string;
  lane: LaneId;
}

/**
 * Maps wallet names to accounts. The workers, which have the keys, write it. A name never changes its account by
 * itself, since jobs of that name may wait in the old account's lane.
 */
export class WalletDirectory {
  constructor(private readonly redis: RedisClient) {}

  /** Writes the wallet unless its name is taken; returns the current entry of the name. */
  async publish({ name, lane }: WalletEntry): Promise<WalletEntry> {
    await this.redis.hsetnx(WALLETS, name, nameLane(createLaneId(lane.chainId, lane.address)));
    return (await this.find(name)) ?? { name, lane };
  }

  /** Removes a name, so that another account can take it. */
  async remove(name: string): Promise<boolean> {
    const [removed] = await Promise.all([this.redis.hdel(WALLETS, name), this.redis.hdel(TOKENS, name)]);
    return removed === 1;
  }

  /** Stores the names of tokens that the wallet's jobs may use, as known to its worker; replaces the earlier list. */
  async publishTokens(name: string, tokens: readonly KnownToken[]): Promise<void> {
    await this.redis.hset(TOKENS, name, JSON.stringify(tokens));
  }

  /** Null if no worker of the wallet has published them yet. */
  async findTokens(name: string): Promise<readonly KnownToken[] | null> {
    return parseKnownTokens((await this.redis.hget(TOKENS, name)) ?? '');
  }

  async find(name: string): Promise<WalletEntry | null> {
    const lane = readLaneName((await this.redis.hget(WALLETS, name)) ?? '');
    return lane && { name, lane };
  }

  /** By name. */
  async list(): Promise<WalletEntry[]> {
    const all = await this.redis.hgetall(WALLETS);
    return Object.entries(all)
      .flatMap(([name, text]) => {
        const lane = readLaneName(text);
        return lane ? [{ name, lane }] : [];
      })
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }
}
