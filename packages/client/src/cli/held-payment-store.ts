import { noteState, type PaymentStore, type StoredPayment, type StoredRevision } from '../store/payment-store.js';

/**
 * Holds the end of a payment back until its answer is written, so that a failed write, or a process that ends in
 * between, leaves a payment that the next run redeems.
 */
export class HeldPaymentStore implements PaymentStore {
  #held: ({ key: string } & StoredRevision) | null = null;

  constructor(private readonly store: PaymentStore) {}

  read(key: string): Promise<StoredRevision | null> {
    return this.store.read(key);
  }

  async write(key: string, payment: StoredPayment, afterRevision: number): Promise<boolean> {
    if (payment.state !== 'redeemed') return this.store.write(key, payment, afterRevision);
    this.#held = { key, payment, revision: afterRevision };
    return true;
  }

  list(): Promise<({ key: string } & StoredRevision)[]> {
    return this.store.list();
  }

  /** Writes what was held back, if anything was. */
  async release(): Promise<void> {
    if (this.#held) await noteState(this.store, this.#held.key, this.#held, 'redeemed');
  }
}
