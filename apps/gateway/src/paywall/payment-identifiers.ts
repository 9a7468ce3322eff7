import { LuaScript } from '@tollgate/common';
import { hashRetryKey, type Lease, type PaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import type { Redis } from 'ioredis';

/** As long as an answer is kept at most: until then a repeat may come. */
const KEPT_MS = 24 * 3600_000;

/**
 * KEYS the identifier; ARGV the payment, the generation of who holds it, ms. Answers what it named: nothing (`anew`), this
 * payment (`before`) or `another`. Atomic: seeing what it names and naming it. Otherwise two payments would have one.
 */
const TAKE = new LuaScript(/* lua */ `
local named = redis.call('GET', KEYS[1])
if named and string.match(named, '^[^,]*') ~= ARGV[1] then return 'another' end
redis.call('SET', KEYS[1], ARGV[1] .. ',' .. ARGV[2], 'PX', ARGV[3])
return named and 'before' or 'anew'
`);

/**
 * KEYS the identifier; ARGV the payment, the generation. Atomic: seeing that nobody has taken it since, and forgetting it.
 * Otherwise one would be forgotten that names another payment, or this one for another holder, who has it moved.
 */
const FORGET = new LuaScript(/* lua */ `
if redis.call('GET', KEYS[1]) == ARGV[1] .. ',' .. ARGV[2] then return redis.call('DEL', KEYS[1]) end
return 0
`);

/** A payer's name for his attempt, and the payment that it names. */
export interface NamedPayment {
  readonly payer: Hex;
  readonly identifier: string;
  /** By which the payment is held. */
  readonly lease: Pick<Lease, 'id' | 'generation'>;
}

/**
 * Which signed payment each identifier names (extension `payment-identifier`): a payer who lost the answer and signs anew
 * under the same identifier would pay twice.
 */
export class PaymentIdentifiers {
  constructor(private readonly redis: Redis) {}

  /**
   * `another`: the payer gave the identifier to another payment, which may have been settled. `before`: an earlier request
   * had it for this one, and may have had it settled.
   */
  async take({ payer, identifier, lease }: NamedPayment): Promise<'anew' | 'before' | 'another'> {
    const args = [nameOf(lease.id), lease.generation, KEPT_MS];
    return (await TAKE.run(this.redis, keyOf(payer, identifier), args)) as 'anew' | 'before' | 'another';
  }

  /** For a payment that was given back and will not be moved: its payer may sign anew. */
  async forget({ payer, identifier, lease }: NamedPayment): Promise<void> {
    await FORGET.run(this.redis, keyOf(payer, identifier), [nameOf(lease.id), lease.generation]);
  }
}

function keyOf(payer: Hex, identifier: string): string {
  return `tollgate:payment-identifier:${hashRetryKey(`${payer.toLowerCase()}\n${identifier}`)}`;
}

function nameOf(payment: PaymentId): string {
  return hashRetryKey(Object.values(payment).join('/').toLowerCase());
}
