import { createLaneId, nameLane, readLaneName, type LaneId } from '@tollgate/transactions';
import type { Redis } from 'ioredis';

import { parseKnownTokens, type KnownToken } from './known-token.js';

const WALLETS = 'tollgate:{wallets}';
const TOKENS = 'tollgate:{wallets}:tokens';

/** A wallet as everybody may know it: its name and its account on one chain. */
export interface WalletEntry {
  name: string;
  lane: LaneId;
}

/**
 * Which wallet names stand for which accounts. The workers, who have the keys, write it; a name never changes its account
 * by itself, since jobs of that name wait in the old account's lane.
 */
export class WalletDirectory {
  constructor(private readonly redis: Redis) {}

  /** Writes the wallet unless its name is taken; answers what stands under the name now. */
  async publish({ name, lane }: WalletEntry): Promise<WalletEntry> {
    await this.redis.hsetnx(WALLETS, name, nameLane(createLaneId(lane.chainId, lane.address)));
    return (await this.find(name)) ?? { name, lane };
  }

  /** Forgets a name, so that another account can take it. */
  async remove(name: string): Promise<boolean> {
    const [removed] = await Promise.all([this.redis.hdel(WALLETS, name), this.redis.hdel(TOKENS, name)]);
    return removed === 1;
  }

  /** Writes which tokens have names for the wallet's jobs: those that its worker knows, and no earlier ones. */
  async publishTokens(name: string, tokens: readonly KnownToken[]): Promise<void> {
    await this.redis.hset(TOKENS, name, JSON.stringify(tokens));
  }

  /** Null where no worker of the wallet has published them yet. */
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
