interface Turns {
  running: number;
  /** When the next post that finds no room shall come back. */
  nextAtMs: number;
  /** How long a post takes, lately. */
  usualMs: number;
}

const FIRST_GUESS_MS = 1_000;
const [SHORTEST_DELAY_MS, LONGEST_DELAY_MS] = [250, 60_000];

/**
 * Bounds how many posts to one target run at once in this process, so that a slow one leaves room for the others. Who finds
 * no room is told when to come back, each later than the one before: a long line is not looked at again and again.
 */
export class TargetTurns {
  readonly #turns = new Map<string, Turns>();

  constructor(
    private readonly atOnce: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Either a turn, to be ended, or how long to stay away. */
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
