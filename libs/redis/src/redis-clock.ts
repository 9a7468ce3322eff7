import type { Cluster, Redis } from 'ioredis';

const SAMPLE_EVERY_MS = 2_000;

/** An estimate of Redis's clock, so that processes on several hosts judge deadlines on one clock. */
export class RedisClock {
  #offsetMs = Date.now() - performance.now();
  #sampledAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly redis: Redis | Cluster) {}

  /** Milliseconds since the epoch; this host's clock before the first sample. */
  nowMs(): number {
    return performance.now() + this.#offsetMs;
  }

  /** Takes the first sample, then one every two seconds. A failed sample leaves the last one in force. */
  async start(): Promise<void> {
    await this.sample();
    this.#timer = setInterval(() => void this.sample().catch(() => undefined), SAMPLE_EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  async sample(): Promise<void> {
    const sentAtMs = performance.now();
    const [seconds, microseconds] = await this.redis.time();
    this.observe(Number(seconds) * 1000 + Number(microseconds) / 1000, sentAtMs);
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
