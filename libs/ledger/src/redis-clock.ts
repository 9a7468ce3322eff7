/** An estimate of Redis's clock, so that every process judges deadlines on one clock. */
export class RedisClock {
  #offsetMs = Date.now() - performance.now();
  #sampledAtMs = Number.NEGATIVE_INFINITY;

  nowMs(): number {
    return Math.floor(performance.now() + this.#offsetMs);
  }

  /** `sentAtMs` is `performance.now()` before the request; Redis is assumed to have answered half-way since then. */
  observe(redisNowMs: number, sentAtMs: number): void {
    const receivedAtMs = performance.now();
    this.#offsetMs = redisNowMs - (sentAtMs + receivedAtMs) / 2;
    this.#sampledAtMs = receivedAtMs;
  }

  /** Whether a new sample is due; true at most once per `ageMs`, so that a silent Redis is not asked in a loop. */
  isDue(ageMs: number): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#sampledAtMs < ageMs) return false;
    this.#sampledAtMs = nowMs;
    return true;
  }
}
