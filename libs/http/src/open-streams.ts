import { ProblemError } from './problem.js';

export interface StreamLimits {
  /** Streams that one API key may have open. */
  readonly ofKey: number;
  readonly ofAll: number;
}

/** The open event streams of a process, by the id of their API key: limits their number, and ends them. */
export class OpenStreams<Stream extends { end(): void }> {
  readonly #ofKeys = new Map<string, Set<Stream>>();
  #isStopping = false;

  constructor(private readonly limits: StreamLimits) {}

  get count(): number {
    return [...this.#ofKeys.values()].reduce((sum, { size }) => sum + size, 0);
  }

  get keyIds(): readonly string[] {
    return [...this.#ofKeys.keys()];
  }

  /** @throws ProblemError if a limit is reached, or the process stops */
  add(keyId: string, stream: Stream): void {
    const streams = this.#ofKeys.get(keyId) ?? new Set();
    if (this.#isStopping || streams.size >= this.limits.ofKey || this.count >= this.limits.ofAll) {
      const detail = 'The limit of open event streams is reached. Close one, or try again after Retry-After.';
      throw new ProblemError({ status: 429, code: 'too_many_streams', detail, retryAfterMs: 10_000 });
    }
    this.#ofKeys.set(keyId, streams.add(stream));
  }

  remove(keyId: string, stream: Stream): void {
    const streams = this.#ofKeys.get(keyId);
    streams?.delete(stream);
    if (streams?.size === 0) this.#ofKeys.delete(keyId);
  }

  endOf(keyId: string): void {
    for (const stream of this.#ofKeys.get(keyId) ?? []) stream.end();
  }

  /** Ends all, and takes no more. */
  stop(): void {
    this.#isStopping = true;
    for (const keyId of this.#ofKeys.keys()) this.endOf(keyId);
  }
}
