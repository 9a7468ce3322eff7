/** What stands under a name, and the time of the store's own clock, which all processes that share it go by. */
export interface StoredValue {
  readonly value: string | null;
  readonly nowMs: number;
}

/**
 * Where gates keep what they know of payments: text of at most some 350 KB under a name. Processes that sell the same share
 * one, and it should lose nothing that it has taken. Both methods may reject, where the store cannot be asked.
 */
export interface PaymentStore {
  read(name: string): Promise<StoredValue>;
  /**
   * Puts `value` (null: nothing) in the place of `expected` (null: nothing), for `ttlMs`. False where something else stands
   * there. Atomic, or two processes would both sell for one payment; true again where `value` stands there already, for a
   * reply that was lost.
   */
  replace(name: string, expected: string | null, value: string | null, ttlMs: number): Promise<boolean>;
}
