import {
  AnswerTooLongError,
  ChainUnavailableError,
  ReceiptTooLargeError,
  type ChainTrouble,
} from './chain-unavailable-error.js';
import type { BatchAnswer, RpcCall, RpcResult } from './rpc-endpoint.js';
import type { ChainObserver, RpcEndpoints } from './rpc-endpoints.js';
import { RpcQueues, type BatchClass } from './rpc-queues.js';
import { sizeOf } from './rpc-value.js';
import { ShortMemory } from './short-memory.js';

/** The client on whose behalf a question is asked, for questions with possibly long answers. */
export interface RpcAsker {
  /** Its answers were long lately, so its questions travel in batches of their own. */
  readonly isCostly: boolean;
  /** Reports the size of an answer. */
  answered(bytes: number): void;
}

/** Calls that belong together, and the function that reads their results. */
export interface RpcQuestion<T> {
  calls: readonly RpcCall[];
  /** Identifies the whole question: callers with the same subject share one answer while it is in flight. */
  subject?: string;
  /** The transaction whose receipt is asked for; its receipt may exceed the size limit. */
  receiptOf?: string;
  asker?: RpcAsker | undefined;
  /** No attempt starts after it. */
  deadlineMs: number;
  /** @throws when the results are not valid; the question is then asked again */
  read(results: readonly RpcResult[], headBlockNumber: number): T;
}

interface Entry {
  question: RpcQuestion<unknown>;
  attempts: number;
  batchClass: BatchClass;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface UnderWay {
  deadlineMs: number;
  answer: Promise<unknown>;
}

export interface RpcBatcherOptions {
  endpoints: RpcEndpoints;
  batchSize: number;
  batchesInFlight: number;
  /** For any answer. */
  maxResponseBytes: number;
  /** For the answer about one transaction. */
  maxReceiptBytes: number;
  observer: ChainObserver;
  /** Pauses before further attempts. Default: 100 and 400. */
  retryDelaysMs?: readonly number[];
  nowMs: () => number;
}

const RETRY_DELAYS_MS = [100, 400];
const LONGEST_DELAY_MS = 400;
/** A receipt keeps its length, but it is forgotten after this time because blocks may be replaced. */
const TOO_LARGE_FOR_MS = 60_000;
const MAX_TOO_LARGE = 1024;
/** Bytes charged for a question that times out alone: a server also takes long to write a long answer. */
const TIMED_OUT_BYTES = 131_072;
/** Failures of a batch that a single question in it may cause. */
const IS_OF_ONE: ReadonlySet<ChainTrouble> = new Set(['rpc_response_too_large', 'rpc_timeout']);
/** Bytes allowed per question in a batch before the batch's answer is cut off. */
const USUAL_BYTES = { receipt: 16_384, other: 65_536 };

/**
 * Packs the questions of many payments into few HTTP requests. While a slot is free, a question is sent within the same
 * turn of the event loop; while all slots are busy, questions gather for the next batch.
 */
export class RpcBatcher {
  readonly counts = { joined: 0, too_large: 0 };
  readonly #queues: RpcQueues<Entry>;
  readonly #underWay = new Map<string, UnderWay>();
  /** Transactions whose receipt is too large, since a client may name the same one any number of times. */
  readonly #tooLarge = new ShortMemory<true>({
    rememberedMs: TOO_LARGE_FOR_MS,
    maxRemembered: MAX_TOO_LARGE,
  });
  #isFlushPlanned = false;
  #isClosed = false;

  constructor(private readonly options: RpcBatcherOptions) {
    this.#queues = new RpcQueues(options);
  }

  /** @throws ChainUnavailableError after the last attempt, or at the deadline; ReceiptTooLargeError */
  ask<T>(question: RpcQuestion<T>): Promise<T> {
    const { subject, receiptOf } = question;
    const known = receiptOf === undefined ? null : this.#tooLarge.find(receiptOf);
    if (known) {
      this.counts.too_large++;
      return Promise.reject(new ReceiptTooLargeError(known.leftMs));
    }
    const batchClass = question.asker?.isCostly ? 'apart' : 'shared';
    // Joined only within the class: a client that asks the same question must not wait behind another client's long
    // answers.
    const name = subject === undefined ? null : `${batchClass} ${subject}`;
    const asked = name === null ? undefined : this.#underWay.get(name);
    return asked ? this.#join(asked, question) : this.#begin(question, batchClass, name);
  }

  close(): void {
    this.#isClosed = true;
    for (const entry of this.#queues.clear()) entry.reject(shuttingDown());
  }

  #begin<T>(question: RpcQuestion<T>, batchClass: BatchClass, name: string | null): Promise<T> {
    const answer = new Promise<T>((resolve, reject) => {
      this.#enqueue({ question, attempts: 0, batchClass, resolve: (value) => resolve(value as T), reject });
    });
    if (name === null) return answer;
    this.#underWay.set(name, { deadlineMs: question.deadlineMs, answer });
    const end = () => this.#underWay.delete(name);
    answer.then(end, end);
    return answer;
  }

  async #join<T>(asked: UnderWay, question: RpcQuestion<T>): Promise<T> {
    this.counts.joined++;
    try {
      return (await asked.answer) as T;
    } catch (error) {
      // The first asker had no time left for another attempt.
      const isOutOfTime = this.options.nowMs() + LONGEST_DELAY_MS >= asked.deadlineMs;
      if (isOutOfTime && question.deadlineMs > asked.deadlineMs) return this.ask(question);
      throw error;
    }
  }

  #enqueue(entry: Entry): void {
    if (this.#isClosed) return entry.reject(shuttingDown());
    this.#queues.add(entry);
    this.#planFlush();
  }

  // setImmediate, so that questions which arrive together, a few promises apart, are sent together.
  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    setImmediate(() => {
      this.#isFlushPlanned = false;
      this.#flush();
    });
  }

  #flush(): void {
    for (let taken = this.#queues.take(); taken !== null; taken = this.#queues.take()) {
      const { batchClass } = taken;
      const batch = this.#dropLate(taken.batch, this.options.nowMs());
      if (batch.length > 0) void this.#send(batch, batchClass);
      else this.#queues.free(batchClass);
    }
    this.options.observer.queueChanged(this.#queues.length, this.#queues.inFlight);
  }

  #dropLate(entries: Entry[], nowMs: number): Entry[] {
    return entries.filter((entry) => {
      const isLate = entry.question.deadlineMs <= nowMs;
      if (isLate)
        entry.reject(new ChainUnavailableError('deadline_passed', 'The deadline passed before the chain was asked.'));
      return !isLate;
    });
  }

  async #send(batch: Entry[], batchClass: BatchClass): Promise<void> {
    const calls = batch.flatMap((entry) => entry.question.calls);
    const untilMs = Math.max(...batch.map((entry) => entry.question.deadlineMs));
    const maxBytes = this.#maxBytesOf(batch);
    try {
      const answer = await this.options.endpoints.ask({ calls, lookups: batch.length, untilMs, maxBytes });
      if (!this.#deliverAll(batch, answer)) this.options.endpoints.leave(answer.served);
    } catch (error) {
      for (const entry of batch) this.#tryAgain(entry, error, batch.length);
    } finally {
      this.#queues.free(batchClass);
      this.#planFlush();
    }
  }

  /**
   * A question alone may have its kind's full limit. A shared answer is cut off early, and then each of its questions
   * is asked alone.
   */
  #maxBytesOf(batch: readonly Entry[]): number {
    const { maxResponseBytes, maxReceiptBytes } = this.options;
    const [first] = batch;
    const isReceipt = ({ question }: Entry) => question.receiptOf !== undefined;
    if (batch.length === 1 && first && !isReceipt(first)) return maxResponseBytes;
    const usual = batch.reduce((sum, entry) => sum + USUAL_BYTES[isReceipt(entry) ? 'receipt' : 'other'], 0);
    return Math.min(maxResponseBytes, batch.length === 1 ? maxReceiptBytes : Math.max(maxReceiptBytes, usual));
  }

  #deliverAll(batch: readonly Entry[], { results, headBlockNumber, bytes }: BatchAnswer): boolean {
    let at = 0;
    let isBelieved = true;
    for (const entry of batch) {
      const { calls, asker } = entry.question;
      const own = results.slice(at, (at += calls.length));
      // Measured only in long answers: a short answer has no long part.
      if (asker && bytes > USUAL_BYTES.receipt) asker.answered(batch.length === 1 ? bytes : sizeOf(own));
      isBelieved = this.#deliver(entry, own, headBlockNumber) && isBelieved;
    }
    return isBelieved;
  }

  #deliver(entry: Entry, results: readonly RpcResult[], headBlockNumber: number): boolean {
    try {
      entry.resolve(entry.question.read(results, headBlockNumber));
      return true;
    } catch (error) {
      this.#tryAgain(entry, error, 1);
      return false;
    }
  }

  #tryAgain(entry: Entry, error: unknown, batchLength: number): void {
    const trouble = toChainUnavailable(error);
    const { receiptOf, asker, deadlineMs } = entry.question;
    if (batchLength === 1) {
      if (trouble.reason === 'rpc_timeout') asker?.answered(TIMED_OUT_BYTES);
      if (trouble instanceof AnswerTooLongError) {
        asker?.answered(trouble.beginning.length);
        if (receiptOf !== undefined && trouble.isOfReceipt) return entry.reject(this.#rememberTooLarge(receiptOf));
      }
    }
    const delayMs = (this.options.retryDelaysMs ?? RETRY_DELAYS_MS)[entry.attempts];
    if (delayMs === undefined || this.options.nowMs() + delayMs >= deadlineMs) return entry.reject(trouble);
    // A payment with an enormous receipt must not make its batch neighbours fail again and again.
    if (batchLength > 1 && IS_OF_ONE.has(trouble.reason)) entry.batchClass = 'alone';
    entry.attempts++;
    setTimeout(() => this.#enqueue(entry), entry.batchClass === 'alone' ? 0 : delayMs).unref();
  }

  #rememberTooLarge(txHash: string): ReceiptTooLargeError {
    this.#tooLarge.keep(txHash, true);
    return new ReceiptTooLargeError(TOO_LARGE_FOR_MS);
  }
}

function shuttingDown(): ChainUnavailableError {
  return new ChainUnavailableError('shutting_down', 'The connection to the chain is closed.');
}

function toChainUnavailable(error: unknown): ChainUnavailableError {
  if (error instanceof ChainUnavailableError) return error;
  return new ChainUnavailableError('rpc_malformed', "The RPC server's answer is not valid.", { cause: error });
}
