export interface GatheringLineOptions<T> {
  /** The most items in one batch. */
  size: number;
  /** How long the first item waits for others while the line is busy; an idle line sends it at once. */
  waitMs: number;
  isBusy: () => boolean;
  /** Must never reject. The next batch leaves after it resolves. */
  carry: (items: readonly T[]) => Promise<void>;
}

/** Batches the items that arrive while earlier ones are still being prepared. */
export class GatheringLine<T> {
  #waiting: T[] = [];
  #timer: NodeJS.Timeout | NodeJS.Immediate | null = null;
  #isCarrying = false;

  constructor(private readonly options: GatheringLineOptions<T>) {}

  add(item: T): void {
    this.#waiting.push(item);
    this.#consider();
  }

  #consider(): void {
    const { size, waitMs, isBusy } = this.options;
    if (this.#isCarrying || this.#waiting.length === 0) return;
    if (this.#waiting.length >= size) return this.#depart();
    if (this.#timer !== null) return;
    const depart = (): void => this.#depart();
    // A turn of the event loop lets items from one message leave together.
    this.#timer = isBusy() && waitMs > 0 ? setTimeout(depart, waitMs) : setImmediate(depart);
  }

  #depart(): void {
    if (this.#timer !== null) {
      clearTimeout(this.#timer as NodeJS.Timeout);
      clearImmediate(this.#timer as NodeJS.Immediate);
    }
    this.#timer = null;
    const items = this.#waiting.splice(0, this.options.size);
    this.#isCarrying = true;
    void this.options.carry(items).finally(() => {
      this.#isCarrying = false;
      this.#consider();
    });
  }
}
