import type { Hex } from '@tollgate/protocol';
import type { PaymentSimulation } from '@tollgate/transport';
import { ExposureCounter } from '@tollgate/verification';

import { aloneBatch, type SettlementAttempt, type AttemptEnd, type Batch, Deferred } from './attempt.js';
import { isShareable } from './methods/registry.js';
import type { Simulation } from './simulate.js';

/** A payment that may be sent now, with the batch that it goes with until `end`. */
export interface Reserved {
  batch: Batch;
  /** Call when the attempt has ended. */
  end(): void;
}

const UNWANTED: AttemptEnd = { outcome: 'unavailable', reason: 'nobody_waits' };
const TURNED_AWAY: AttemptEnd = { outcome: 'unavailable', reason: 'payer_busy' };

/**
 * Waits until the payer's balance covers the payment together with everything of the payer that is in flight, then for
 * the batch that the payment goes with.
 */
export async function reserve(
  { exposure, simulation, nowMs }: { exposure: InFlightExposure; simulation: Simulation; nowMs: () => number },
  { batcher }: { batcher: Batcher },
  attempt: SettlementAttempt,
): Promise<Reserved | AttemptEnd> {
  const { payment, earlierSimulation, flight } = attempt;
  const { asset, payer, amountBaseUnits } = payment;
  const turn = await exposure.begin({ asset, payer, amountBaseUnits: BigInt(amountBaseUnits), earlierSimulation });
  if (turn === null) return TURNED_AWAY;
  if (nowMs() >= flight.wantedUntilMs) {
    turn.end();
    return UNWANTED;
  }
  const end = (): void => {
    batcher.leave();
    turn.end();
  };
  const batch = await batcher.gather(attempt, turn.isSimulated);
  if (batch.attempts.length === 1 || (await simulation.canShare().catch(() => false))) return { batch, end };
  batcher.release(batch);
  return { batch: aloneBatch(attempt, turn.isSimulated), end };
}

/** The amount that settling a payment takes from its payer. */
export interface Debit {
  asset: Hex;
  payer: Hex;
  amountBaseUnits: bigint;
  earlierSimulation?: PaymentSimulation | undefined;
}

/** A payment's share of its payer's balance, taken until `end`. */
interface Turn {
  /** The simulation that came with the payment holds beside what the payer's other payments have taken since. */
  isSimulated: boolean;
  end(): void;
}

interface WaitingPayment {
  amountBaseUnits: bigint;
  /** Seen to exceed what the payer has left. */
  isHeld: boolean;
  /** True when its turn has come, false when it is turned away. */
  isTurn: Deferred<boolean>;
}

/** A simulation of the verification that is older is repeated before the payment is sent. */
const VERIFIED_FRESH_MS = 2_000;

/** The payments of one payer in one token. */
interface PayerQueue {
  /** The key of the payer's amounts in flight. */
  readonly key: string;
  openCount: number;
  readonly waiting: WaitingPayment[];
  isReading: boolean;
}

interface InFlightExposureOptions {
  /** The payer's token balance in the newest block. */
  readBalance: (asset: Hex, payer: Hex) => Promise<bigint>;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
  /**
   * The most payments, over all payers, that may wait for a payer's balance. They take the places of other payments,
   * and signing costs nothing.
   */
  mostHeld: number;
}

/**
 * Admits a payment when the payer's balance covers it together with everything in flight. A simulation only sees the
 * newest block: many payments signed over one balance would each pass it, and all but one would burn the relayer's gas.
 */
export class InFlightExposure {
  readonly #queues = new Map<string, PayerQueue>();
  #held = 0;

  readonly #inFlight = new ExposureCounter();
  /** Amounts that were or may have been moved too recently for every valid simulation to have seen them. */
  readonly #recentlyMoved = new ExposureCounter();

  constructor(private readonly options: InFlightExposureOptions) {}

  /** The number of payers and tokens with payments in flight or waiting. */
  get size(): number {
    return this.#queues.size;
  }

  /**
   * Resolves when the payment's turn comes, in order of arrival. A payment does not wait when its payer has nothing else
   * in flight, or had enough for all of it when the payment was simulated. Null when too many payments wait already.
   */
  async begin(debit: Debit): Promise<Turn | null> {
    const key = ExposureCounter.keyOf(debit);
    const queue = this.#queues.get(key) ?? { key, openCount: 0, waiting: [], isReading: false };
    this.#queues.set(key, queue);
    const isSimulated = this.#isCovered(key, debit);
    const waiting: WaitingPayment = { amountBaseUnits: debit.amountBaseUnits, isHeld: false, isTurn: new Deferred() };
    if (isSimulated) this.#admit(queue, waiting);
    else {
      queue.waiting.push(waiting);
      this.#admitWaiting(queue, debit);
    }
    if (!(await waiting.isTurn.promise)) return null;
    return { isSimulated, end: () => this.#end(queue, debit) };
  }

  #end(queue: PayerQueue, debit: Debit): void {
    const { amountBaseUnits } = debit;
    queue.openCount--;
    this.#inFlight.add(queue.key, -amountBaseUnits);
    this.#recentlyMoved.add(queue.key, amountBaseUnits);
    // Longer than any simulation is valid, even if Redis's clock is corrected.
    setTimeout(() => this.#recentlyMoved.add(queue.key, -amountBaseUnits), 2 * VERIFIED_FRESH_MS).unref();
    if (queue.openCount === 0 && queue.waiting.length === 0) this.#queues.delete(queue.key);
    else this.#admitWaiting(queue, debit);
  }

  /** Whether the payer's balance at the simulation covers everything that the simulation may not have seen. */
  #isCovered(key: string, { amountBaseUnits, earlierSimulation }: Debit): boolean {
    if (earlierSimulation === undefined || this.options.nowMs() - earlierSimulation.atMs > VERIFIED_FRESH_MS)
      return false;
    const unseen = this.#inFlight.read(key) + this.#recentlyMoved.read(key);
    return unseen + amountBaseUnits <= BigInt(earlierSimulation.balanceBaseUnits);
  }

  #admitWaiting(queue: PayerQueue, debit: Debit): void {
    if (queue.openCount === 0) this.#admitNext(queue);
    if (queue.waiting.length > 0 && !queue.isReading) void this.#admitCovered(queue, debit);
  }

  /** Reads the payer's balance, and admits what it covers, in order of arrival. */
  async #admitCovered(queue: PayerQueue, { asset, payer }: Debit): Promise<void> {
    queue.isReading = true;
    // If the balance cannot be read, admit: the simulation cannot be made either, and reports it.
    const balance = await this.options.readBalance(asset, payer).catch(() => null);
    queue.isReading = false;
    for (let [next] = queue.waiting; next !== undefined; [next] = queue.waiting) {
      const isAfforded = balance === null || this.#inFlight.read(queue.key) + next.amountBaseUnits <= balance;
      if (queue.openCount > 0 && !isAfforded) return this.#hold(queue);
      this.#admitNext(queue);
    }
  }

  /** Marks the payments that have to wait as held, up to `mostHeld`; the rest are turned away. */
  #hold(queue: PayerQueue): void {
    for (const waiting of queue.waiting.splice(0)) {
      if (waiting.isHeld || this.#held < this.options.mostHeld) {
        if (!waiting.isHeld) this.#held++;
        waiting.isHeld = true;
        queue.waiting.push(waiting);
      } else waiting.isTurn.resolve(false);
    }
  }

  #admitNext(queue: PayerQueue): void {
    const next = queue.waiting.shift();
    if (next === undefined) return;
    if (next.isHeld) this.#held--;
    this.#admit(queue, next);
  }

  #admit(queue: PayerQueue, { amountBaseUnits, isTurn }: WaitingPayment): void {
    queue.openCount++;
    this.#inFlight.add(queue.key, amountBaseUnits);
    isTurn.resolve(true);
  }
}

interface BatcherOptions {
  simulation: Pick<Simulation, 'readMostGas' | 'countFitting'>;
  /** The most payments in one batch. */
  size: number;
  /** How long the first payment waits for others while the relayer is busy; an idle one takes it at once. */
  waitMs: number;
}

interface WaitingAttempt {
  attempt: SettlementAttempt;
  isSimulated: boolean;
  batch: Deferred<Batch>;
}

/** Batches the payments that arrive while earlier ones are still being prepared. */
export class Batcher {
  /** The attempts of this relayer that have not ended. */
  #underWay = 0;
  #waiting: WaitingAttempt[] = [];
  #timer: NodeJS.Timeout | NodeJS.Immediate | null = null;
  #preparing: Batch | null = null;
  /** Of one transaction; until it is known, each payment is a batch of its own. */
  #mostGas = 0n;

  constructor(private readonly options: BatcherOptions) {}

  /** The batch that the payment goes with until `leave`. The next one leaves after `release`. */
  async gather(attempt: SettlementAttempt, isSimulated: boolean): Promise<Batch> {
    this.#underWay++;
    const { size, simulation } = this.options;
    if (attempt.isAlone || size === 1 || !isShareable(attempt.payment)) return aloneBatch(attempt, isSimulated);
    // If it cannot be read, the batch cannot be simulated either, which reports it.
    this.#mostGas = await simulation.readMostGas().catch(() => this.#mostGas);
    const batch = new Deferred<Batch>();
    this.#waiting.push({ attempt, isSimulated, batch });
    this.#planDeparture();
    return batch.promise;
  }

  /** Call when the batch is submitted, or will not be. */
  release(batch: Batch): void {
    if (this.#preparing !== batch) return;
    this.#preparing = null;
    this.#planDeparture();
  }

  /** Call when an attempt has ended. */
  leave(): void {
    this.#underWay--;
  }

  #planDeparture(): void {
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
    const { size, simulation } = this.options;
    const next = this.#waiting.slice(0, size).map(({ attempt }) => attempt.payment);
    // A job holds payments of one method.
    const other = next.findIndex(({ payment }) => payment.kind !== next[0]?.payment.kind);
    const first = other === -1 ? next : next.slice(0, other);
    const gathered = this.#waiting.splice(0, simulation.countFitting(first, this.#mostGas));
    const batch: Batch = {
      attempts: gathered.map(({ attempt }) => attempt),
      isShared: true,
      isSimulated: gathered.every(({ isSimulated }) => isSimulated),
      sent: null,
    };
    this.#preparing = batch;
    for (const waiting of gathered) waiting.batch.resolve(batch);
  }
}
