import type { Hex } from '@tollgate/protocol';

import type { LaneSettings } from './lane-settings.js';

interface Flight {
  /** On this process's own clock; null: this process did not send it. */
  sentAtMs: number | null;
  /** The attempt that was sent last, and since when it has been the last. */
  attempt: { hash: Hex; sinceMs: number } | null;
  /** Since when a node has accepted it, as far as this process knows. */
  acceptedAtMs: number | null;
  isMined: boolean;
  isUnderpriced: boolean;
  /** Why no server has taken the bytes at the last sending; null: one has, or this is not known. */
  notTaken: Error | null;
  /** The head at which the step was last checked and needed nothing more. */
  checkedHead: Hex | null;
  foreignNonce: { sinceMs: number; sinceBlock: number; lastBlock: number; lookUps: number } | null;
}

/**
 * What one process remembers of the steps in flight, to decide when to check, resend or re-sign them. It does not
 * decide what may be sent; losing it costs a repeated check.
 */
export class FlightWatch {
  readonly #flights = new Map<string, Flight>();
  noteSent(name: string, hash: Hex): void {
    const flight = this.#flight(name);
    flight.sentAtMs = performance.now();
    flight.isUnderpriced = false;
    flight.notTaken = null;
    if (flight.attempt?.hash !== hash) flight.attempt = { hash, sinceMs: flight.sentAtMs };
  }

  noteAccepted(name: string): void {
    this.#flight(name).acceptedAtMs ??= performance.now();
  }

  /** Every server refused the bytes for now, or did not answer. */
  noteNotTaken(name: string, notTaken: Error): void {
    this.#flight(name).notTaken = notTaken;
  }

  findNotTaken(name: string): Error | null {
    return this.#flights.get(name)?.notTaken ?? null;
  }

  /** The node asks for higher fees than the last attempt offers. */
  noteUnderpriced(name: string): void {
    this.#flight(name).isUnderpriced = true;
  }

  /** Returns how long the step waited for its block; null: unknown, or already returned. */
  noteMined(name: string): number | null {
    const flight = this.#flight(name);
    const sinceMs = flight.isMined ? null : flight.acceptedAtMs;
    flight.isMined = true;
    flight.foreignNonce = null;
    return sinceMs === null ? null : performance.now() - sinceMs;
  }

  /** The step's block left the chain: it is sent again at once. */
  noteUnmined(name: string): void {
    Object.assign(this.#flight(name), { isMined: false, sentAtMs: null });
  }

  /** The step needs no check until there is another head. */
  noteChecked(name: string, head: Hex): void {
    this.#flight(name).checkedHead = head;
  }

  isChecked(name: string, head: Hex): boolean {
    return this.#flights.get(name)?.checkedHead === head;
  }

  isMined(name: string): boolean {
    return this.#flights.get(name)?.isMined ?? false;
  }

  isUnderpriced(name: string): boolean {
    return this.#flights.get(name)?.isUnderpriced ?? false;
  }

  /** True when this process last sent the step at least `agoMs` ago, or never. */
  isSentBefore(name: string, agoMs: number): boolean {
    const sentAtMs = this.#flights.get(name)?.sentAtMs ?? null;
    return sentAtMs === null || performance.now() - sentAtMs >= agoMs;
  }

  /** True when the step's last attempt has waited for `waitMs`. */
  hasWaited(name: string, hash: Hex, waitMs: number): boolean {
    const attempt = this.#flights.get(name)?.attempt;
    return attempt?.hash === hash && performance.now() - attempt.sinceMs >= waitMs;
  }

  /**
   * Counts a check that found the nonce used and no receipt. True once this has lasted long enough, in blocks and in
   * time.
   */
  suspectForeignNonce(
    name: string,
    headNumber: number,
    { nonceDoubtBlocks, nonceDoubtMs }: Pick<LaneSettings, 'nonceDoubtBlocks' | 'nonceDoubtMs'>,
  ): boolean {
    const flight = this.#flight(name);
    const nowMs = performance.now();
    flight.foreignNonce ??= { sinceMs: nowMs, sinceBlock: headNumber, lastBlock: headNumber, lookUps: 1 };
    if (headNumber > flight.foreignNonce.lastBlock) {
      flight.foreignNonce.lastBlock = headNumber;
      flight.foreignNonce.lookUps++;
    }
    const { sinceMs, sinceBlock, lookUps } = flight.foreignNonce;
    return lookUps >= 2 && headNumber - sinceBlock >= nonceDoubtBlocks && nowMs - sinceMs >= nonceDoubtMs;
  }

  /** Forgets the steps that are no longer in flight. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#flights.keys()) if (!names.has(name)) this.#flights.delete(name);
  }

  #flight(name: string): Flight {
    let flight = this.#flights.get(name);
    if (!flight) {
      flight = {
        sentAtMs: null,
        attempt: null,
        acceptedAtMs: null,
        isMined: false,
        isUnderpriced: false,
        notTaken: null,
        checkedHead: null,
        foreignNonce: null,
      };
      this.#flights.set(name, flight);
    }
    return flight;
  }
}

/** The name of a step here. Steps of one job have different nonces. */
export function flightName({ jobId, stepIndex }: { jobId: string; stepIndex: number }): string {
  return `${jobId}/${stepIndex}`;
}
