import type { ChainObserver } from './chain-observer.js';
import { ChainUnavailableError } from './chain-unavailable-error.js';
import type { RpcCall, RpcResult } from './rpc-endpoint.js';
import type { RpcEndpoints } from './rpc-endpoints.js';

/** Some calls that belong together, and how their results are read. */
export interface RpcQuestion<T> {
  calls: readonly RpcCall[];
  /** What is asked about: after an answer that is too long by itself, it is not asked about again for a while. */
  subject?: string;
  /** No try is begun after it. */
  deadlineMs: number;
  /** @throws when the results cannot be believed; the question is asked again */
  read(results: readonly RpcResult[], headBlockNumber: number): T;
}

interface Entry {
  question: RpcQuestion<unknown>;
  attempts: number;
  /** Its answer made a batch too large: it travels alone. */
  alone: boolean;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export interface RpcBatcherOptions {
  endpoints: RpcEndpoints;
  batchSize: number;
  batchesInFlight: number;
  observer: ChainObserver;
  nowMs: () => number;
}

const RETRY_DELAYS_MS = [100, 400];
const TOO_LONG_FOR_MS = 30_000;
const MAX_TOO_LONG = 1024;

/**
 * Puts the questions of many payments into few HTTP requests. A question goes out in the same turn of the event loop
 * while a slot is free; while all are busy, questions gather for the next batch.
 */
export class RpcBatcher {
  private queue: Entry[] = [];
  /** Until when the answer about a subject is taken for too long; anybody may ask for it any number of times. */
  private readonly tooLong = new Map<string, number>();
  private inFlight = 0;
  private isFlushPlanned = false;
  private isClosed = false;

  constructor(private readonly options: RpcBatcherOptions) {}

  /** @throws ChainUnavailableError after three tries, or at the deadline */
  ask<T>(question: RpcQuestion<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const retryAfterMs = this.tooLongForMs(question);
      if (retryAfterMs > 0) return reject(tooLong(retryAfterMs));
      this.enqueue({ question, attempts: 0, alone: false, resolve: (value) => resolve(value as T), reject });
    });
  }

  close(): void {
    this.isClosed = true;
    for (const entry of this.queue.splice(0)) entry.reject(shuttingDown());
  }

  private enqueue(entry: Entry): void {
    if (this.isClosed) return entry.reject(shuttingDown());
    this.queue.push(entry);
    this.planFlush();
  }

  // setImmediate, so that questions that arrive together, a few promises deep, leave together.
  private planFlush(): void {
    if (this.isFlushPlanned) return;
    this.isFlushPlanned = true;
    setImmediate(() => {
      this.isFlushPlanned = false;
      this.flush();
    });
  }

  private flush(): void {
    while (this.inFlight < this.options.batchesInFlight && this.queue.length > 0) {
      const batch = this.takeBatch();
      if (batch.length > 0) void this.send(batch);
    }
    this.options.observer.queueChanged(this.queue.length, this.inFlight);
  }

  private takeBatch(): Entry[] {
    const nowMs = this.options.nowMs();
    if (this.queue[0]?.alone) return this.dropLate(this.queue.splice(0, 1), nowMs);
    const firstAlone = this.queue.findIndex((entry) => entry.alone);
    const size = Math.min(this.options.batchSize, firstAlone < 0 ? this.queue.length : firstAlone);
    return this.dropLate(this.queue.splice(0, size), nowMs);
  }

  private dropLate(entries: Entry[], nowMs: number): Entry[] {
    return entries.filter((entry) => {
      const isLate = entry.question.deadlineMs <= nowMs;
      if (isLate)
        entry.reject(new ChainUnavailableError('deadline_passed', 'The deadline passed before the chain was asked.'));
      return !isLate;
    });
  }

  private async send(batch: Entry[]): Promise<void> {
    this.inFlight++;
    const calls = batch.flatMap((entry) => entry.question.calls);
    const untilMs = Math.max(...batch.map((entry) => entry.question.deadlineMs));
    try {
      const answer = await this.options.endpoints.ask(calls, batch.length, untilMs);
      let at = 0;
      let hasTrouble = false;
      for (const entry of batch) {
        const results = answer.results.slice(at, (at += entry.question.calls.length));
        hasTrouble = !this.settle(entry, results, answer.headBlockNumber) || hasTrouble;
      }
      if (hasTrouble) this.options.endpoints.leave(answer.served);
    } catch (error) {
      for (const entry of batch) this.tryAgain(entry, error, batch.length);
    } finally {
      this.inFlight--;
      this.planFlush();
    }
  }

  private settle(entry: Entry, results: readonly RpcResult[], headBlockNumber: number): boolean {
    try {
      entry.resolve(entry.question.read(results, headBlockNumber));
      return true;
    } catch (error) {
      this.tryAgain(entry, error, 1);
      return false;
    }
  }

  private tooLongForMs({ subject }: RpcQuestion<unknown>): number {
    const untilMs = subject === undefined ? undefined : this.tooLong.get(subject);
    return untilMs === undefined ? 0 : untilMs - this.options.nowMs();
  }

  private rememberTooLong({ subject }: RpcQuestion<unknown>): void {
    if (subject === undefined) return;
    this.tooLong.delete(subject);
    this.tooLong.set(subject, this.options.nowMs() + TOO_LONG_FOR_MS);
    const [oldest] = this.tooLong.keys();
    if (this.tooLong.size > MAX_TOO_LONG && oldest !== undefined) this.tooLong.delete(oldest);
  }

  private tryAgain(entry: Entry, error: unknown, batchLength: number): void {
    const trouble = toChainUnavailable(error);
    const isItsOwn = trouble.reason === 'rpc_response_too_large' && batchLength === 1;
    const delayMs = RETRY_DELAYS_MS[entry.attempts];
    if (delayMs === undefined || this.options.nowMs() + delayMs >= entry.question.deadlineMs) {
      if (!isItsOwn) return entry.reject(trouble);
      this.rememberTooLong(entry.question);
      return entry.reject(tooLong(this.tooLongForMs(entry.question), trouble));
    }
    // One payment with an enormous receipt must not fail its neighbours again and again.
    if (trouble.reason === 'rpc_response_too_large' && batchLength > 1) entry.alone = true;
    entry.attempts++;
    setTimeout(() => this.enqueue(entry), entry.alone ? 0 : delayMs).unref();
  }
}

function tooLong(retryAfterMs: number, cause?: Error): ChainUnavailableError {
  const message = 'The answer is longer than what is read.';
  return new ChainUnavailableError('rpc_response_too_large', message, { retryAfterMs, cause });
}

function shuttingDown(): ChainUnavailableError {
  return new ChainUnavailableError('shutting_down', 'The verifier is shutting down.');
}

function toChainUnavailable(error: unknown): ChainUnavailableError {
  if (error instanceof ChainUnavailableError) return error;
  return new ChainUnavailableError('rpc_malformed', "The RPC server's answer cannot be read.", { cause: error });
}
