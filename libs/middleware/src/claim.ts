import type { SettleResponse } from '@tollgate/protocol';

import { ttlMsOf, type ClaimTimes, type PaymentRecord } from './payment-record.js';
import type { PaymentStore } from './payment-store.js';
import type { StoredAnswer } from './sold-answer.js';

/**
 * The right to sell for a payment: one request's at a time, in all processes of a store. It is kept up until it ends, and
 * every step of it fails once another request has taken it over. The methods reject where the store cannot be asked.
 */
export class Claim {
  readonly #timer: ReturnType<typeof setInterval>;
  /** One write at a time, each on what the one before left. */
  #lastWrite: Promise<unknown> = Promise.resolve();
  #text: string | null;

  constructor(
    private readonly store: PaymentStore,
    readonly name: string,
    private record: PaymentRecord,
    private readonly times: ClaimTimes,
  ) {
    this.#text = JSON.stringify(record);
    this.#timer = setInterval(() => void this.#renew().catch(() => undefined), times.leaseMs / 3);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  get idempotencyKey(): string {
    return this.record.idempotencyKey;
  }

  /** Whether its answer can be given again to who paid for it, and to nobody else. */
  get isProven(): boolean {
    return this.record.secret !== null;
  }

  /** What the facilitator said of it, where it is known to be settled. */
  get receipt(): SettleResponse | undefined {
    return this.record.receipt;
  }

  /** Whether it may have been settled before this request. */
  get wasAsked(): boolean {
    return this.record.state !== 'claimed';
  }

  /** Before anything is asked: from then on it is settled under this key alone, also by who comes after a crash. */
  ask(): Promise<boolean> {
    return this.#write(({ state, ...record }) => ({ ...record, state: state === 'settled' ? state : 'asked' }));
  }

  /** It is settled, and nobody was there to get the answer. */
  settle(receipt: SettleResponse): Promise<boolean> {
    return this.#write((record) => ({ ...record, state: 'settled', receipt, leasedUntilMs: 0 }));
  }

  /** Before the first byte of the answer leaves. False: the right is another request's, who answers. */
  sell(answer: StoredAnswer | null): Promise<boolean> {
    clearInterval(this.#timer);
    return this.#write(({ receipt: _, ...record }) => ({ ...record, state: 'sold', ...(answer && { answer }) }));
  }

  /** It was not settled, and will not be by what was asked: should it come again, it is another attempt. */
  async forget(): Promise<void> {
    clearInterval(this.#timer);
    await this.#write(() => null);
  }

  /** Nobody sells for it now; what may have been settled stays known. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#write((record) => {
      if (record.state === 'claimed') return null;
      return record.state === 'sold' ? record : { ...record, leasedUntilMs: 0 };
    });
  }

  async #renew(): Promise<void> {
    const { nowMs } = await this.store.read(this.name);
    await this.#write((record) =>
      record.leasedUntilMs === 0 ? record : { ...record, leasedUntilMs: nowMs + this.times.leaseMs },
    );
  }

  #write(change: (record: PaymentRecord) => PaymentRecord | null): Promise<boolean> {
    const written = this.#lastWrite.then(async () => {
      const record = change(this.record);
      if (record === this.record) return true;
      const text = record && JSON.stringify(record);
      const ttlMs = record === null ? 0 : ttlMsOf(record, this.times);
      const isWritten =
        (await this.store.replace(this.name, this.#text, text, ttlMs)) ||
        ((await this.#readOwn()) && (await this.store.replace(this.name, this.#text, text, ttlMs)));
      if (!isWritten) return false;
      // Once it is forgotten, each later step fails: nothing is asked for it.
      this.record = record ?? { ...this.record, state: 'claimed' };
      this.#text = text;
      return true;
    });
    this.#lastWrite = written.catch(() => undefined);
    return written;
  }

  /**
   * Whether what stands there is this request's all the same: a write whose reply was lost may have been made, and what a
   * store has lost of a payment that may be settled is nobody else's.
   */
  async #readOwn(): Promise<boolean> {
    const { value } = await this.store.read(this.name);
    const { owner, state } = this.record;
    if (value === null ? state === 'claimed' : (JSON.parse(value) as PaymentRecord).owner !== owner) return false;
    this.#text = value;
    return true;
  }
}
