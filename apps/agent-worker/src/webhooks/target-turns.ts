interface Turns {
  running: number;
  /** When the next post that finds no free place should come back. */
  nextAtMs: number;
  /** The recent duration of a post. */
  usualMs: number;
}

const FIRST_GUESS_MS = 1_000;
const [SHORTEST_DELAY_MS, LONGEST_DELAY_MS] = [250, 60_000];

/**
 * Limits the concurrent posts to one target in this process, so that a slow target leaves room for the others. A post
 * that finds no free place gets a time to come back, each later than the one before, so that a long queue is not
 * checked again and again.
 */
export class TargetTurns {
  readonly #turns = new Map<string, Turns>();

  constructor(
    private readonly atOnce: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Either a turn, which must be ended, or how long to wait before asking again. */
  take(targetId: string): { end: () => void } | { delayMs: number } {
    const nowMs = this.now();
    const turns = this.#turns.get(targetId) ?? { running: 0, nextAtMs: 0, usualMs: FIRST_GUESS_MS };
    this.#turns.set(targetId, turns);
    if (turns.running >= this.atOnce) {
      turns.nextAtMs = Math.max(turns.nextAtMs, nowMs) + turns.usualMs / this.atOnce;
      turns.nextAtMs = Math.min(turns.nextAtMs, nowMs + LONGEST_DELAY_MS);
      return { delayMs: Math.max(SHORTEST_DELAY_MS, Math.round(turns.nextAtMs - nowMs)) };
    }
    turns.running++;
    return { end: () => this.#end(targetId, turns, nowMs) };
  }

  #end(targetId: string, turns: Turns, startedAtMs: number): void {
    const nowMs = this.now();
    turns.running--;
    turns.usualMs = turns.usualMs * 0.75 + (nowMs - startedAtMs) * 0.25;
    if (turns.running === 0 && turns.nextAtMs <= nowMs) this.#turns.delete(targetId);
  }
}
