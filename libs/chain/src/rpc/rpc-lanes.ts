/**
 * `shared`: may travel with others. `alone`: was in a batch whose answer was too long, and may be the cause. `apart`:
 * from a client whose answers were long lately.
 */
export type Lane = 'shared' | 'alone' | 'apart';

export interface RpcLanesOptions {
  batchSize: number;
  batchesInFlight: number;
}

/**
 * Questions that wait for a slot. The lanes take turns, and questions that travel alone always leave slots to the
 * shared ones.
 */
export class RpcLanes<Entry extends { lane: Lane }> {
  private readonly waiting: Record<Lane, Entry[]> = { shared: [], alone: [], apart: [] };
  private readonly taken: Record<Lane, number> = { shared: 0, alone: 0, apart: 0 };
  private readonly slots: Readonly<Record<Lane, number>>;
  /** The lanes in the order of their turns. */
  private turns: readonly Lane[] = ['shared', 'alone', 'apart'];

  constructor(private readonly options: RpcLanesOptions) {
    const { batchesInFlight } = options;
    this.slots = { shared: batchesInFlight, alone: Math.ceil(batchesInFlight / 2), apart: 1 };
  }

  get inFlight(): number {
    return this.taken.shared + this.taken.alone + this.taken.apart;
  }

  get length(): number {
    return this.waiting.shared.length + this.waiting.alone.length + this.waiting.apart.length;
  }

  add(entry: Entry): void {
    this.waiting[entry.lane].push(entry);
  }

  /** The next batch, whose slot stays taken until `free`; null while none may leave. */
  take(): { lane: Lane; batch: Entry[] } | null {
    if (this.inFlight >= this.options.batchesInFlight) return null;
    const lane = this.turns.find((each) => this.waiting[each].length > 0 && this.taken[each] < this.slots[each]);
    if (lane === undefined) return null;
    this.turns = [...this.turns.filter((each) => each !== lane), lane];
    this.taken[lane]++;
    return { lane, batch: this.waiting[lane].splice(0, lane === 'shared' ? this.options.batchSize : 1) };
  }

  free(lane: Lane): void {
    this.taken[lane]--;
  }

  clear(): Entry[] {
    return Object.values(this.waiting).flatMap((entries) => entries.splice(0));
  }
}
