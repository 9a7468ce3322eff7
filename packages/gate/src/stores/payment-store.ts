/** The value under a name, and the time of the store's clock, which all processes that share the store use. */
export interface StoredValue {
  readonly value: string | null;
  readonly nowMs: number;
}

/**
 * Stores what gates know of payments: texts of up to about 350 KB by name. Processes that sell the same resources share
 * one store, and it should not lose a value that it has accepted. Both methods may reject if the store is unavailable.
 */
export interface PaymentStore {
  read(name: string): Promise<StoredValue>;
  /**
   * Replaces `expected` by `value` for `ttlMs`; null stands for no value. False if another value is stored. Must be
   * atomic, or two processes could both sell for one payment. Returns true if `value` is already stored, so that a call
   * whose reply was lost can be repeated.
   */
  replace(name: string, expected: string | null, value: string | null, ttlMs: number): Promise<boolean>;
}
