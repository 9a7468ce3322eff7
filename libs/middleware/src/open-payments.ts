const MAX_KEPT = 10_000;

/**
 * The payments that this process is selling for, and those whose settlement it knows no end of. A payment is sold for once
 * at a time; one that comes again is settled under the key it had, so that a success that was lost on the way is told
 * again, once.
 */
export class OpenPayments {
  readonly #running = new Set<string>();
  readonly #keys = new Map<string, string>();

  /** The Idempotency-Key to settle under; null while another request sells for this payment. */
  begin(payment: string): string | null {
    if (this.#running.has(payment)) return null;
    this.#running.add(payment);
    return this.#keys.get(payment) ?? crypto.randomUUID();
  }

  /** Nobody sells for it any more. */
  end(payment: string): void {
    this.#running.delete(payment);
  }

  /** What became of it is known: should it come again, it is another attempt. */
  forget(payment: string): void {
    this.#keys.delete(payment);
  }

  /** What became of it is not known. */
  keep(payment: string, key: string): void {
    this.#keys.delete(payment);
    this.#keys.set(payment, key);
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > MAX_KEPT && oldest !== undefined) this.#keys.delete(oldest);
  }
}
