import type { PaymentTrial } from '@tollgate/common';
import type { Hex } from '@tollgate/protocol';

import { Deferred } from './deferred.js';

/** The amount that settling a payment takes from its payer. */
export interface Claimed {
  asset: Hex;
  payer: Hex;
  amountBaseUnits: bigint;
  trial?: PaymentTrial | undefined;
}

/** A payment's share of its payer's balance, taken until `end`. */
export interface Turn {
  /** The simulation that came with the payment holds beside what the payer's other payments have taken since. */
  isTried: boolean;
  end(): void;
}

interface Waiting {
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
  /** The sum that its payments in flight may still take. */
  openBaseUnits: bigint;
  openCount: number;
  readonly waiting: Waiting[];
  isLooking: boolean;
}

export interface InFlightExposureOptions {
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

  /** Amounts that were or may have been moved too recently for every valid simulation to have seen them. */
  readonly #lately = new Map<string, bigint>();

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
    const { asset, payer, amountBaseUnits } = claimed;
    const name = `${asset} ${payer}`;
    const tab = this.#tabs.get(name) ?? { openBaseUnits: 0n, openCount: 0, waiting: [], isLooking: false };
    this.#tabs.set(name, tab);
    const isTried = this.#isCovered(name, tab, claimed);
    const waiting: Waiting = { amountBaseUnits, isHeld: false, isTurn: new Deferred() };
    if (isTried) beginNow(tab, waiting);
    else {
      tab.waiting.push(waiting);
      this.#consider(tab, claimed);
    }
    if (!(await waiting.isTurn.promise)) return null;
    return { isTried, end: () => this.#end(name, tab, claimed) };
  }

  #end(name: string, tab: Tab, claimed: Claimed): void {
    tab.openCount--;
    tab.openBaseUnits -= claimed.amountBaseUnits;
    this.#remember(name, claimed.amountBaseUnits);
    if (tab.openCount === 0 && tab.waiting.length === 0) this.#tabs.delete(name);
    else this.#consider(tab, claimed);
  }

  /** Whether the payer's balance at the simulation covers everything that the simulation may not have seen. */
  #isCovered(name: string, { openBaseUnits }: Tab, { amountBaseUnits, trial }: Claimed): boolean {
    if (trial === undefined || this.options.nowMs() - trial.atMs > FRESH_MS) return false;
    return openBaseUnits + (this.#lately.get(name) ?? 0n) + amountBaseUnits <= BigInt(trial.balanceBaseUnits);
  }

  #remember(name: string, amountBaseUnits: bigint): void {
    this.#lately.set(name, (this.#lately.get(name) ?? 0n) + amountBaseUnits);
    // Longer than any simulation is valid, even if Redis's clock is corrected.
    setTimeout(() => this.#forget(name, amountBaseUnits), 2 * FRESH_MS).unref();
  }

  #forget(name: string, amountBaseUnits: bigint): void {
    const left = (this.#lately.get(name) ?? 0n) - amountBaseUnits;
    if (left > 0n) this.#lately.set(name, left);
    else this.#lately.delete(name);
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
      const isAfforded = balance === null || tab.openBaseUnits + next.amountBaseUnits <= balance;
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
    beginNow(tab, next);
  }
}

function beginNow(tab: Tab, { amountBaseUnits, isTurn }: Waiting): void {
  tab.openCount++;
  tab.openBaseUnits += amountBaseUnits;
  isTurn.resolve(true);
}
