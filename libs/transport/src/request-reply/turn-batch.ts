/** Collects the entries of one turn of the event loop and flushes them together: one command for many messages. */
export class TurnBatch<T> {
  #batch: T[] = [];

  constructor(private readonly flush: (batch: T[]) => void) {}

  add(entry: T): void {
    // After the poll phase, so that everything that arrived by sockets in this turn is in the batch.
    if (this.#batch.push(entry) === 1) setImmediate(() => this.flushNow());
  }

  flushNow(): void {
    const batch = this.#batch;
    this.#batch = [];
    if (batch.length > 0) this.flush(batch);
  }
}
