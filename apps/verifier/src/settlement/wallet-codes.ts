import { LuaScript } from '@tollgate/common';
import type { Hex } from '@tollgate/protocol';
import type { Redis } from 'ioredis';

const BURNS_KEPT_MS = 3_600_000;
/** Longer, so that a code many pay by is not barred for the first of an hour. */
const SETTLED_KEPT_MS = 86_400_000;

/** KEYS a count, ARGV ms from its first. Atomic: a count without an end would bar for ever. */
const COUNT = new LuaScript(/* lua */ `
if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1
`);

/** KEYS a count, ARGV ms from its last. */
const COUNT_ON = new LuaScript(/* lua */ `
redis.call('INCR', KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`);

/**
 * What became of payments by wallet code, over all verifiers. An attacker deploys any number of wallets of one code; and
 * honest wallets share one, whose bar must not be for sale: it takes more burns than payments that were settled.
 */
export class WalletCodes {
  /** @param mostBurns so many in an hour bar a code; 0: none is barred */
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

/** Each in a slot of its own. */
function burnsKey(code: Hex): string {
  return `tollgate:{wallet-code-${code}}:burns`;
}

function settledKey(code: Hex): string {
  return `tollgate:{wallet-code-${code}}:settled`;
}
