import { LuaScript } from '@tollgate/common';
import { hashRetryKey, type PaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import type { Redis } from 'ioredis';

/** As long as an answer is kept at most: until then a repeat may come. */
const KEPT_MS = 24 * 3600_000;

/**
 * KEYS the identifier; ARGV the payment. Atomic: seeing that the identifier is this payment's, and forgetting it.
 * Otherwise one that was given to another payment meanwhile would be forgotten.
 */
const FORGET = new LuaScript(/* lua */ `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`);

/** A payer's name for his attempt, and the payment that it names. */
export interface NamedPayment {
  readonly payer: Hex;
  readonly identifier: string;
  readonly payment: PaymentId;
}

/**
 * Which signed payment each identifier names (extension `payment-identifier`): a payer who lost the answer and signs anew
 * under the same identifier would pay twice.
 */
export class PaymentIdentifiers {
  constructor(private readonly redis: Redis) {}

  /** False: the payer gave the identifier to another payment, which may have been settled. */
  async take({ payer, identifier, payment }: NamedPayment): Promise<boolean> {
    const named = nameOf(payment);
    const before = await this.redis.set(keyOf(payer, identifier), named, 'PX', KEPT_MS, 'NX', 'GET');
    return before === null || before === named;
  }

  /** For a payment that was given back and not moved: its payer may sign anew. */
  async forget({ payer, identifier, payment }: NamedPayment): Promise<void> {
    await FORGET.run(this.redis, keyOf(payer, identifier), [nameOf(payment)]);
  }
}

function keyOf(payer: Hex, identifier: string): string {
  return `tollgate:payment-identifier:${hashRetryKey(`${payer.toLowerCase()}\n${identifier}`)}`;
}

function nameOf(payment: PaymentId): string {
  return hashRetryKey(Object.values(payment).join('/').toLowerCase());
}
