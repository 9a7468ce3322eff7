import type { Hex } from '@tollgate/protocol';
import { LuaScript } from '@tollgate/redis';
import type { Redis } from 'ioredis';

import countFromFirst from './scripts/count-from-first.lua';
import countOn from './scripts/count-on.lua';

const BURNS_KEPT_MS = 3_600_000;
/** Longer, so that a code used by many payers is not barred for the first burns of an hour. */
const SETTLED_KEPT_MS = 86_400_000;

const COUNT = new LuaScript(countFromFirst);
const COUNT_ON = new LuaScript(countOn);

/**
 * Counts settled and burnt payments by wallet code, over all verifiers. An attacker can deploy any number of wallets
 * with one code, so the code is barred, not the wallet. Honest wallets share a code too, and an attacker must not be
 * able to bar it cheaply: burns must outnumber settled payments.
 */
export class WalletCodes {
  /** @param mostBurns burns in an hour after which a code is barred; 0 bars none */
  constructor(
    private readonly redis: Redis,
    private readonly mostBurns: number,
  ) {}

  async noteBurn(code: Hex): Promise<void> {
    await COUNT.run(this.redis, burnsKey(code), [BURNS_KEPT_MS]);
  }

  async noteSettled(code: Hex): Promise<void> {
    await COUNT_ON.run(this.redis, settledKey(code), [SETTLED_KEPT_MS]);
  }

  async isBarred(code: Hex): Promise<boolean> {
    if (this.mostBurns === 0) return false;
    const [burns, settled] = await Promise.all([this.redis.get(burnsKey(code)), this.redis.get(settledKey(code))]);
    return Number(burns) >= this.mostBurns && Number(burns) > Number(settled);
  }
}

/** A Redis Cluster slot for each code. */
function burnsKey(code: Hex): string {
  return `tollgate:{wallet-code-${code}}:burns`;
}

function settledKey(code: Hex): string {
  return `tollgate:{wallet-code-${code}}:settled`;
}
