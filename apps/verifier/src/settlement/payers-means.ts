import type { PaymentTrial } from '@tollgate/common';
import type { Hex } from '@tollgate/protocol';

/** What settling a payment takes from its payer. */
export interface Claimed {
  asset: Hex;
  payer: Hex;
  amountBaseUnits: bigint;
  trial?: PaymentTrial | undefined;
}

interface Waiting {
  amountBaseUnits: bigint;
  /** Seen to be more than the payer has left. */
  isHeld: boolean;
  begin: () => void;
  turnAway: () => void;
}

/** What was tried longer ago is tried again before it is sent. */
const FRESH_MS = 2_000;

/** Of one payer in one token. */
interface Tab {
  /** What his payments under way may still take. */
  openBaseUnits: bigint;
  openCount: number;
  readonly waiting: Waiting[];
  isLooking: boolean;
}

export interface PayersMeansOptions {
  /** What the payer has of the token in the last block. */
  readBalance: (asset: Hex, payer: Hex) => Promise<bigint>;
  /** Redis's clock. */
  nowMs: () => number;
  /** Payments that wait for their payers' means, of all together; they take the places of others, and signing costs nothing. */
  mostHeld: number;
}

/**
 * Lets a payment begin once its payer can make it beside those of his that are under way. A trial sees the last block
 * alone: what is signed many times over one balance would pass it each time, and all but one burn the relayer's gas.
 */
export class PayersMeans {
  readonly #tabs = new Map<string, Tab>();
  #held = 0;

  /** What was moved, or should have been, too lately for every trial that counts to have seen it. */
  readonly #lately = new Map<string, bigint>();

  constructor(private readonly options: PayersMeansOptions) {}

  /** Payers of whom anything is kept. */
  get size(): number {
    return this.#tabs.size;
  }

  /**
   * Does the work when it is its turn, in the order of asking; nobody waits whose payer has nothing under way, or who had
   * enough for all of it when his payment was tried. `isTried`: that trial holds beside all that his others have taken since.
   * Null: it is not done, for too many wait already.
   */
  async spend<T>(claimed: Claimed, work: (isTried: boolean) => Promise<T>): Promise<T | null> {
    const { asset, payer, amountBaseUnits } = claimed;
    const name = `${asset} ${payer}`;
    const tab = this.#tabs.get(name) ?? { openBaseUnits: 0n, openCount: 0, waiting: [], isLooking: false };
    this.#tabs.set(name, tab);
    const isTried = this.#isCovered(name, tab, claimed);
    const isTurn = await new Promise<boolean>((resolve) => {
      const [begin, turnAway] = [() => resolve(true), () => resolve(false)];
      const waiting = { amountBaseUnits, isHeld: false, begin, turnAway };
      if (isTried) return beginNow(tab, waiting);
      tab.waiting.push(waiting);
      this.#consider(tab, claimed);
    });
    if (!isTurn) return null;
    try {
      return await work(isTried);
    } finally {
      tab.openCount--;
      tab.openBaseUnits -= amountBaseUnits;
      this.#remember(name, amountBaseUnits);
      if (tab.openCount === 0 && tab.waiting.length === 0) this.#tabs.delete(name);
      else this.#consider(tab, claimed);
    }
  }

  /** Whether the payer, when it was tried, had what all of his take that the trial may not have seen. */
  #isCovered(name: string, { openBaseUnits }: Tab, { amountBaseUnits, trial }: Claimed): boolean {
    if (trial === undefined || this.options.nowMs() - trial.atMs > FRESH_MS) return false;
    return openBaseUnits + (this.#lately.get(name) ?? 0n) + amountBaseUnits <= BigInt(trial.balanceBaseUnits);
  }

  #remember(name: string, amountBaseUnits: bigint): void {
    this.#lately.set(name, (this.#lately.get(name) ?? 0n) + amountBaseUnits);
    // Longer than any trial counts, whatever Redis's clock is corrected by.
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
    // Where nobody can tell, the trial cannot either, and says so.
    const balance = await this.options.readBalance(asset, payer).catch(() => null);
    tab.isLooking = false;
    for (let [next] = tab.waiting; next !== undefined; [next] = tab.waiting) {
      const isAfforded = balance === null || tab.openBaseUnits + next.amountBaseUnits <= balance;
      if (tab.openCount > 0 && !isAfforded) return this.#hold(tab);
      this.#beginNext(tab);
    }
  }

  /** Those who wait longer than a look, as far as there is room. */
  #hold(tab: Tab): void {
    for (const waiting of tab.waiting.splice(0)) {
      if (waiting.isHeld || this.#held < this.options.mostHeld) {
        if (!waiting.isHeld) this.#held++;
        waiting.isHeld = true;
        tab.waiting.push(waiting);
      } else waiting.turnAway();
    }
  }

  #beginNext(tab: Tab): void {
    const next = tab.waiting.shift();
    if (next === undefined) return;
    if (next.isHeld) this.#held--;
    beginNow(tab, next);
  }
}

function beginNow(tab: Tab, { amountBaseUnits, begin }: Waiting): void {
  tab.openCount++;
  tab.openBaseUnits += amountBaseUnits;
  begin();
}
