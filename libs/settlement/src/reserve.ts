import type { PaymentTrial } from '@tollgate/common';
import type { Hex } from '@tollgate/protocol';
import { ExposureCounter } from '@tollgate/verification';

import { aloneBatch, type SettlementAttempt, type AttemptEnd, type Batch, Deferred } from './attempt.js';
import { isShareable } from './payment-entry.js';
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
  const { payment, trial, flight } = attempt;
  const { asset, payer, amountBaseUnits } = payment;
  const turn = await exposure.begin({ asset, payer, amountBaseUnits: BigInt(amountBaseUnits), trial });
  if (turn === null) return TURNED_AWAY;
  if (nowMs() >= flight.wantedUntilMs) {
    turn.end();
    return UNWANTED;
  }
  const end = (): void => {
    batcher.leave();
    turn.end();
  };
  const batch = await batcher.gather(attempt, turn.isTried);
  if (batch.attempts.length === 1 || (await simulation.canShare().catch(() => false))) return { batch, end };
  batcher.release(batch);
  return { batch: aloneBatch(attempt, turn.isTried), end };
}

/** The amount that settling a payment takes from its payer. */
export interface Claimed {
  asset: Hex;
  payer: Hex;
  amountBaseUnits: bigint;
  trial?: PaymentTrial | undefined;
}

/** A payment's share of its payer's balance, taken until `end`. */
interface Turn {
  /** The simulation that came with the payment holds beside what the payer's other payments have taken since. */
  isTried: boolean;
  end(): void;
}

interface WaitingPayment {
  amountBaseUnits: bigint;
  /** Seen to exceed what the payer has left. */
  isHeld: boolean;
  /** True when its turn has come, false when it is turned away. */
  isTurn: Deferred<boolean>;
}

/** An older simulation is repeated before the payment is sent. */
const FRESH_MS = 2_000;

/** The payments of one payer in one token. */
interface Tab {
  /** Of its sum of payments in flight. */
  readonly key: string;
  openCount: number;
  readonly waiting: WaitingPayment[];
  isLooking: boolean;
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
  readonly #tabs = new Map<string, Tab>();
  #held = 0;

  readonly #inFlight = new ExposureCounter();
  /** Amounts that were or may have been moved too recently for every valid simulation to have seen them. */
  readonly #lately = new ExposureCounter();

  constructor(private readonly options: InFlightExposureOptions) {}

  /** The number of payers and tokens with payments in flight or waiting. */
  get size(): number {
    return this.#tabs.size;
  }

  /**
   * Resolves when the payment's turn comes, in order of arrival. A payment does not wait when its payer has nothing else
   * in flight, or had enough for all of it when the payment was simulated. Null when too many payments wait already.
   */
  async begin(claimed: Claimed): Promise<Turn | null> {
    const key = ExposureCounter.keyOf(claimed);
    const tab = this.#tabs.get(key) ?? { key, openCount: 0, waiting: [], isLooking: false };
    this.#tabs.set(key, tab);
    const isTried = this.#isCovered(key, claimed);
    const waiting: WaitingPayment = { amountBaseUnits: claimed.amountBaseUnits, isHeld: false, isTurn: new Deferred() };
    if (isTried) this.#beginNow(tab, waiting);
    else {
      tab.waiting.push(waiting);
      this.#consider(tab, claimed);
    }
    if (!(await waiting.isTurn.promise)) return null;
    return { isTried, end: () => this.#end(tab, claimed) };
  }

  #end(tab: Tab, claimed: Claimed): void {
    const { amountBaseUnits } = claimed;
    tab.openCount--;
    this.#inFlight.add(tab.key, -amountBaseUnits);
    this.#lately.add(tab.key, amountBaseUnits);
    // Longer than any simulation is valid, even if Redis's clock is corrected.
    setTimeout(() => this.#lately.add(tab.key, -amountBaseUnits), 2 * FRESH_MS).unref();
    if (tab.openCount === 0 && tab.waiting.length === 0) this.#tabs.delete(tab.key);
    else this.#consider(tab, claimed);
  }

  /** Whether the payer's balance at the simulation covers everything that the simulation may not have seen. */
  #isCovered(key: string, { amountBaseUnits, trial }: Claimed): boolean {
    if (trial === undefined || this.options.nowMs() - trial.atMs > FRESH_MS) return false;
    const unseen = this.#inFlight.read(key) + this.#lately.read(key);
    return unseen + amountBaseUnits <= BigInt(trial.balanceBaseUnits);
  }

  #consider(tab: Tab, claimed: Claimed): void {
    if (tab.openCount === 0) this.#beginNext(tab);
    if (tab.waiting.length > 0 && !tab.isLooking) void this.#look(tab, claimed);
  }

  async #look(tab: Tab, { asset, payer }: Claimed): Promise<void> {
    tab.isLooking = true;
    // If the balance cannot be read, admit: the simulation cannot be made either, and reports it.
    const balance = await this.options.readBalance(asset, payer).catch(() => null);
    tab.isLooking = false;
    for (let [next] = tab.waiting; next !== undefined; [next] = tab.waiting) {
      const isAfforded = balance === null || this.#inFlight.read(tab.key) + next.amountBaseUnits <= balance;
      if (tab.openCount > 0 && !isAfforded) return this.#hold(tab);
      this.#beginNext(tab);
    }
  }

  /** Marks the payments that have to wait as held, up to `mostHeld`; the rest are turned away. */
  #hold(tab: Tab): void {
    for (const waiting of tab.waiting.splice(0)) {
      if (waiting.isHeld || this.#held < this.options.mostHeld) {
        if (!waiting.isHeld) this.#held++;
        waiting.isHeld = true;
        tab.waiting.push(waiting);
      } else waiting.isTurn.resolve(false);
    }
  }

  #beginNext(tab: Tab): void {
    const next = tab.waiting.shift();
    if (next === undefined) return;
    if (next.isHeld) this.#held--;
    this.#beginNow(tab, next);
  }

  #beginNow(tab: Tab, { amountBaseUnits, isTurn }: WaitingPayment): void {
    tab.openCount++;
    this.#inFlight.add(tab.key, amountBaseUnits);
    isTurn.resolve(true);
  }
}

interface BatcherOptions {
  /** The most payments in one batch. */
  size: number;
  /** How long the first payment waits for others while the relayer is busy; an idle one takes it at once. */
  waitMs: number;
}

interface WaitingAttempt {
  attempt: SettlementAttempt;
  isTried: boolean;
  batch: Deferred<Batch>;
}

/** Batches the payments that arrive while earlier ones are still being prepared. */
export class Batcher {
  /** The attempts of this relayer that have not ended. */
  #underWay = 0;
  #waiting: WaitingAttempt[] = [];
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
