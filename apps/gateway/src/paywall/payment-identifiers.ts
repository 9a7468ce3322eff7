import { hashRetryKey, type Lease, type PaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import { LuaScript } from '@tollgate/redis';
import type { Redis } from 'ioredis';

/** The longest time an answer is stored: a repeat may arrive until then. */
const KEPT_MS = 24 * 3600_000;

/**
 * KEYS: the identifier. ARGV: the payment, the generation of its lease, ms. Returns what the identifier named: nothing
 * (`anew`), this payment (`before`) or `another` payment. Reading and writing are atomic: otherwise two payments could
 * take one identifier.
 */
const TAKE = new LuaScript(/* lua */ `
local named = redis.call('GET', KEYS[1])
if named and string.match(named, '^[^,]*') ~= ARGV[1] then return 'another' end
redis.call('SET', KEYS[1], ARGV[1] .. ',' .. ARGV[2], 'PX', ARGV[3])
return named and 'before' or 'anew'
`);

/**
 * KEYS: the identifier. ARGV: the payment, the generation of its lease. The check that no other lease has taken the
 * identifier and its deletion are atomic: otherwise this could delete an identifier that names another payment, or one
 * of a newer holder that is settling this payment.
 */
const FORGET = new LuaScript(/* lua */ `
if redis.call('GET', KEYS[1]) == ARGV[1] .. ',' .. ARGV[2] then return redis.call('DEL', KEYS[1]) end
return 0
`);

/** A payer's identifier and the payment it names. */
export interface NamedPayment {
  readonly payer: Hex;
  readonly identifier: string;
  /** The lease that holds the payment. */
  readonly lease: Pick<Lease, 'id' | 'generation'>;
}

/**
 * Remembers which signed payment each identifier names (x402 extension `payment-identifier`): a payer that lost the
 * answer and signs a new payment under the same identifier would otherwise pay twice.
 */
export class PaymentIdentifiers {
  constructor(private readonly redis: Redis) {}

  /**
   * `another`: the payer used the identifier for another payment, which may have been settled. `before`: an earlier
   * request used it for this payment, and may have settled it.
   */
  async take({ payer, identifier, lease }: NamedPayment): Promise<'anew' | 'before' | 'another'> {
    const args = [nameOf(lease.id), lease.generation, KEPT_MS];
    return (await TAKE.run(this.redis, keyOf(payer, identifier), args)) as 'anew' | 'before' | 'another';
  }

  /** For a payment that was released and will not be settled: its payer may sign a new one. */
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
