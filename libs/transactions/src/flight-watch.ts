import type { Hex } from '@tollgate/protocol';

import type { LaneSettings } from './lane-settings.js';

interface Flight {
  /** On this process's own clock; null: not by this process. */
  sentAtMs: number | null;
  /** The attempt that was sent last, and since when it is the last. */
  attempt: { hash: Hex; sinceMs: number } | null;
  /** Since when a node has it, as far as this process was told. */
  acceptedAtMs: number | null;
  isMined: boolean;
  isUnderpriced: boolean;
  /** The last head that it was compared with, and nothing more was to do. */
  settledHead: Hex | null;
  stranger: { sinceMs: number; sinceBlock: number; lastBlock: number; lookUps: number } | null;
}

/**
 * What one process remembers of the steps in flight, to know when to look, send or sign again. Nothing here decides what
 * may be sent, and losing it costs a repeated look.
 */
export class FlightWatch {
  readonly #flights = new Map<string, Flight>();
  noteSent(name: string, hash: Hex): void {
    const flight = this.#flight(name);
    flight.sentAtMs = performance.now();
    flight.isUnderpriced = false;
    if (flight.attempt?.hash !== hash) flight.attempt = { hash, sinceMs: flight.sentAtMs };
  }

  noteAccepted(name: string): void {
    this.#flight(name).acceptedAtMs ??= performance.now();
  }

  /** The node asks for higher fees than the last attempt offers. */
  noteUnderpriced(name: string): void {
    this.#flight(name).isUnderpriced = true;
  }

  /** Answers how long it has waited for its block; null: that is not known, or was said before. */
  noteMined(name: string): number | null {
    const flight = this.#flight(name);
    const sinceMs = flight.isMined ? null : flight.acceptedAtMs;
    flight.isMined = true;
    flight.stranger = null;
    return sinceMs === null ? null : performance.now() - sinceMs;
  }

  /** Its block left the chain: it is sent again at once. */
  noteUnmined(name: string): void {
    Object.assign(this.#flight(name), { isMined: false, sentAtMs: null });
  }

  /** Until there is another head, nothing new can be said of the step. */
  noteSettled(name: string, head: Hex): void {
    this.#flight(name).settledHead = head;
  }

  isSettled(name: string, head: Hex): boolean {
    return this.#flights.get(name)?.settledHead === head;
  }

  isMined(name: string): boolean {
    return this.#flights.get(name)?.isMined ?? false;
  }

  isUnderpriced(name: string): boolean {
    return this.#flights.get(name)?.isUnderpriced ?? false;
  }

  /** This process has not sent the step for so long. */
  isSentBefore(name: string, agoMs: number): boolean {
    const sentAtMs = this.#flights.get(name)?.sentAtMs ?? null;
    return sentAtMs === null || performance.now() - sentAtMs >= agoMs;
  }

  /** The step's last attempt has waited for so long. */
  hasWaited(name: string, hash: Hex, waitMs: number): boolean {
    const attempt = this.#flights.get(name)?.attempt;
    return attempt?.hash === hash && performance.now() - attempt.sinceMs >= waitMs;
  }

  /** Counts a look that found the nonce used and no receipt; true once that was so for long enough, by blocks and by time. */
  suspectStranger(
    name: string,
    headNumber: number,
    { strangerBlocks, strangerMs }: Pick<LaneSettings, 'strangerBlocks' | 'strangerMs'>,
  ): boolean {
    const flight = this.#flight(name);
    const nowMs = performance.now();
    flight.stranger ??= { sinceMs: nowMs, sinceBlock: headNumber, lastBlock: headNumber, lookUps: 1 };
    if (headNumber > flight.stranger.lastBlock) {
      flight.stranger.lastBlock = headNumber;
      flight.stranger.lookUps++;
    }
    const { sinceMs, sinceBlock, lookUps } = flight.stranger;
    return lookUps >= 2 && headNumber - sinceBlock >= strangerBlocks && nowMs - sinceMs >= strangerMs;
  }

  /** Forgets the steps that are not in flight any more. */
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
        settledHead: null,
        stranger: null,
      };
      this.#flights.set(name, flight);
    }
    return flight;
  }
}

/** How a step is named here: steps of one job follow each other at different nonces. */
export function flightName({ jobId, stepIndex }: { jobId: string; stepIndex: number }): string {
  return `${jobId}/${stepIndex}`;
}
