import { hashRetryKey, type Lease, type PaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import { LuaScript, type RedisClient } from '@tollgate/redis';

import forgetIdentifier from './scripts/forget-identifier.lua';
import takeIdentifier from './scripts/take-identifier.lua';

/** The longest time an answer is stored: a repeat may arrive until then. */
const KEPT_MS = 24 * 3600_000;

const TAKE = new LuaScript(takeIdentifier);
const FORGET = new LuaScript(forgetIdentifier);

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
  constructor(private readonly redis: RedisClient) {}

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
