/**
 * `shared`: may travel with others. `alone`: was in a batch whose answer was too long, and may be the cause. `apart`:
 * from a client whose answers were long lately.
 */
export type BatchClass = 'shared' | 'alone' | 'apart';

export interface RpcQueuesOptions {
  batchSize: number;
  batchesInFlight: number;
}

/**
 * Questions that wait for a slot. The queues take turns, and questions that travel alone always leave slots to the
 * shared ones.
 */
export class RpcQueues<Entry extends { batchClass: BatchClass }> {
  readonly #waiting: Record<BatchClass, Entry[]> = { shared: [], alone: [], apart: [] };
  readonly #taken: Record<BatchClass, number> = { shared: 0, alone: 0, apart: 0 };
  readonly #slots: Readonly<Record<BatchClass, number>>;
  /** The queues in the order of their turns. */
  #turns: readonly BatchClass[] = ['shared', 'alone', 'apart'];

  constructor(private readonly options: RpcQueuesOptions) {
    const { batchesInFlight } = options;
    this.#slots = { shared: batchesInFlight, alone: Math.ceil(batchesInFlight / 2), apart: 1 };
  }

  get inFlight(): number {
    return this.#taken.shared + this.#taken.alone + this.#taken.apart;
  }

  get length(): number {
    return this.#waiting.shared.length + this.#waiting.alone.length + this.#waiting.apart.length;
  }

  add(entry: Entry): void {
    this.#waiting[entry.batchClass].push(entry);
  }

  /** The next batch, whose slot stays taken until `free`; null while none may leave. */
  take(): { batchClass: BatchClass; batch: Entry[] } | null {
    if (this.inFlight >= this.options.batchesInFlight) return null;
    const batchClass = this.#turns.find(
      (each) => this.#waiting[each].length > 0 && this.#taken[each] < this.#slots[each],
    );
    if (batchClass === undefined) return null;
    this.#turns = [...this.#turns.filter((each) => each !== batchClass), batchClass];
    this.#taken[batchClass]++;
    return {
      batchClass,
      batch: this.#waiting[batchClass].splice(0, batchClass === 'shared' ? this.options.batchSize : 1),
    };
  }

  free(batchClass: BatchClass): void {
    this.#taken[batchClass]--;
  }

  clear(): Entry[] {
    return Object.values(this.#waiting).flatMap((entries) => entries.splice(0));
  }
}
