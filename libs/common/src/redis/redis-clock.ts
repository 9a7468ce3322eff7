import type { Redis } from 'ioredis';

const SAMPLE_EVERY_MS = 2_000;

/** Redis's clock, sampled, so that hosts whose clocks differ agree on deadlines. */
export class RedisClock {
  #offsetMs: number | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly redis: Redis) {}

  /** Takes the first sample, then one every two seconds. A failed sample leaves the last one in force. */
  async start(): Promise<void> {
    await this.#sample();
    this.#timer = setInterval(() => void this.#sample().catch(() => undefined), SAMPLE_EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Milliseconds since the epoch; this host's clock before the first sample. */
  nowMs(): number {
    return this.#offsetMs === null ? Date.now() : performance.now() + this.#offsetMs;
  }

  async #sample(): Promise<void> {
    const sentMs = performance.now();
    const [seconds, microseconds] = await this.redis.time();
    const middleMs = (sentMs + performance.now()) / 2;
    this.#offsetMs = Number(seconds) * 1000 + Number(microseconds) / 1000 - middleMs;
  }
}
