import { isShareable } from '../payments/payment-entry.js';
import { Deferred } from '../state/deferred.js';
import { aloneBatch, type SettlementAttempt, type Batch } from './attempt.js';

export interface BatcherOptions {
  /** The most payments in one batch. */
  size: number;
  /** How long the first payment waits for others while the relayer is busy; an idle one takes it at once. */
  waitMs: number;
}

interface Waiting {
  attempt: SettlementAttempt;
  isTried: boolean;
  batch: Deferred<Batch>;
}

/** Batches the payments that arrive while earlier ones are still being prepared. */
export class Batcher {
  /** The attempts of this relayer that have not ended. */
  #underWay = 0;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | NodeJS.Immediate | null = null;
  #preparing: Batch | null = null;

  constructor(private readonly options: BatcherOptions) {}

  /** The batch that the payment goes with until `leave`. The next one leaves after `release`. */
  gather(attempt: SettlementAttempt, isTried: boolean): Promise<Batch> {
    this.#underWay++;
    if (attempt.isAlone || this.options.size === 1 || !isShareable(attempt.payment)) {
      return Promise.resolve(aloneBatch(attempt, isTried));
    }
    const batch = new Deferred<Batch>();
    this.#waiting.push({ attempt, isTried, batch });
    this.#consider();
    return batch.promise;
  }

  /** Call when the batch is submitted, or will not be. */
  release(batch: Batch): void {
    if (this.#preparing !== batch) return;
    this.#preparing = null;
    this.#consider();
  }

  /** Call when an attempt has ended. */
  leave(): void {
    this.#underWay--;
  }

  #consider(): void {
    const { size, waitMs } = this.options;
    if (this.#preparing !== null || this.#waiting.length === 0) return;
    if (this.#waiting.length >= size) return this.#depart();
    if (this.#timer !== null) return;
    const depart = (): void => this.#depart();
    // A turn of the event loop lets payments from one message leave together.
    this.#timer = this.#underWay > 1 && waitMs > 0 ? setTimeout(depart, waitMs) : setImmediate(depart);
  }

  #depart(): void {
    if (this.#timer !== null) {
      clearTimeout(this.#timer as NodeJS.Timeout);
      clearImmediate(this.#timer as NodeJS.Immediate);
    }
    this.#timer = null;
    const gathered = this.#waiting.splice(0, this.options.size);
    const batch: Batch = {
      attempts: gathered.map(({ attempt }) => attempt),
      isShared: true,
      isTried: gathered.every(({ isTried }) => isTried),
      sent: null,
    };
    this.#preparing = batch;
    for (const waiting of gathered) waiting.batch.resolve(batch);
  }
}
