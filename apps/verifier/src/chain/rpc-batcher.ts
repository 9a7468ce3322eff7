import type { ChainObserver } from './chain-observer.js';
import {
  AnswerTooLongError,
  ChainUnavailableError,
  ReceiptTooLargeError,
  type ChainTrouble,
} from './chain-unavailable-error.js';
import type { BatchAnswer, RpcCall, RpcResult } from './rpc-endpoint.js';
import type { RpcEndpoints } from './rpc-endpoints.js';
import { RpcLanes, type Lane } from './rpc-lanes.js';
import { ShortMemory } from './short-memory.js';
import { sizeOf } from './size-of.js';

/** On whose behalf a question is asked, where its answer may be long. */
export interface RpcAsker {
  /** Its answers were long lately: its questions travel apart from all others. */
  readonly isCostly: boolean;
  /** An answer had so many bytes. */
  answered(bytes: number): void;
}

/** Some calls that belong together, and how their results are read. */
export interface RpcQuestion<T> {
  calls: readonly RpcCall[];
  /** What it is, all of it: who asks the same while it is under way gets its answer. */
  subject?: string;
  /** The transaction whose receipt it asks for, which may be longer than anything that is read. */
  receiptOf?: string;
  asker?: RpcAsker | undefined;
  /** No try is begun after it. */
  deadlineMs: number;
  /** @throws when the results cannot be believed; the question is asked again */
  read(results: readonly RpcResult[], headBlockNumber: number): T;
}

interface Entry {
  question: RpcQuestion<unknown>;
  attempts: number;
  lane: Lane;
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
  /** Of any answer. */
  maxResponseBytes: number;
  /** Of the answer about one transaction. */
  maxReceiptBytes: number;
  observer: ChainObserver;
  nowMs: () => number;
}

const RETRY_DELAYS_MS = [100, 400];
const LONGEST_DELAY_MS = 400;
/** A receipt keeps its length: it is forgotten all the same, since blocks may be replaced. */
const TOO_LARGE_FOR_MS = 60_000;
const MAX_TOO_LARGE = 1024;
/** What one that takes too long by itself counts for: long answers also take a server long to write. */
const TIMED_OUT_BYTES = 131_072;
/** Troubles of a batch that one question of it may be the cause of. */
const IS_OF_ONE: ReadonlySet<ChainTrouble> = new Set(['rpc_response_too_large', 'rpc_timeout']);
/** What a question's answer may take up in a batch before the whole of it is cut off. */
const USUAL_BYTES = { receipt: 16_384, other: 65_536 };

/**
 * Puts the questions of many payments into few HTTP requests. A question goes out in the same turn of the event loop
 * while a slot is free; while all are busy, questions gather for the next batch.
 */
export class RpcBatcher {
  readonly counts = { joined: 0, too_large: 0 };
  private readonly lanes: RpcLanes<Entry>;
  private readonly underWay = new Map<string, UnderWay>();
  /** Transactions whose receipt is too large: a client may name one any number of times. */
  private readonly tooLarge: ShortMemory<true>;
  private isFlushPlanned = false;
  private isClosed = false;

  constructor(private readonly options: RpcBatcherOptions) {
    this.lanes = new RpcLanes(options);
    const { nowMs } = options;
    this.tooLarge = new ShortMemory({ rememberedMs: TOO_LARGE_FOR_MS, maxRemembered: MAX_TOO_LARGE, nowMs });
  }

  /** @throws ChainUnavailableError after three tries, or at the deadline; ReceiptTooLargeError */
  ask<T>(question: RpcQuestion<T>): Promise<T> {
    const { subject, receiptOf } = question;
    const known = receiptOf === undefined ? null : this.tooLarge.find(receiptOf);
    if (known) {
      this.counts.too_large++;
      return Promise.reject(new ReceiptTooLargeError(known.leftMs));
    }
    const lane = question.asker?.isCostly ? 'apart' : 'shared';
    // In its own lane: no client waits behind another's long answers for having asked the same.
    const name = subject === undefined ? null : `${lane} ${subject}`;
    const asked = name === null ? undefined : this.underWay.get(name);
    return asked ? this.join(asked, question) : this.begin(question, lane, name);
  }

  close(): void {
    this.isClosed = true;
    for (const entry of this.lanes.clear()) entry.reject(shuttingDown());
  }

  private begin<T>(question: RpcQuestion<T>, lane: Lane, name: string | null): Promise<T> {
    const answer = new Promise<T>((resolve, reject) => {
      this.enqueue({ question, attempts: 0, lane, resolve: (value) => resolve(value as T), reject });
    });
    if (name === null) return answer;
    this.underWay.set(name, { deadlineMs: question.deadlineMs, answer });
    const end = () => this.underWay.delete(name);
    answer.then(end, end);
    return answer;
  }

  private async join<T>(asked: UnderWay, question: RpcQuestion<T>): Promise<T> {
    this.counts.joined++;
    try {
      return (await asked.answer) as T;
    } catch (error) {
      // The first asker had no time left for another try.
      const isOutOfTime = this.options.nowMs() + LONGEST_DELAY_MS >= asked.deadlineMs;
      if (isOutOfTime && question.deadlineMs > asked.deadlineMs) return this.ask(question);
      throw error;
    }
  }

  private enqueue(entry: Entry): void {
    if (this.isClosed) return entry.reject(shuttingDown());
    this.lanes.add(entry);
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
    for (let taken = this.lanes.take(); taken !== null; taken = this.lanes.take()) {
      const { lane } = taken;
      const batch = this.dropLate(taken.batch, this.options.nowMs());
      if (batch.length > 0) void this.send(batch, lane);
      else this.lanes.free(lane);
    }
    this.options.observer.queueChanged(this.lanes.length, this.lanes.inFlight);
  }

  private dropLate(entries: Entry[], nowMs: number): Entry[] {
    return entries.filter((entry) => {
      const isLate = entry.question.deadlineMs <= nowMs;
      if (isLate)
        entry.reject(new ChainUnavailableError('deadline_passed', 'The deadline passed before the chain was asked.'));
      return !isLate;
    });
  }

  private async send(batch: Entry[], lane: Lane): Promise<void> {
    const calls = batch.flatMap((entry) => entry.question.calls);
    const untilMs = Math.max(...batch.map((entry) => entry.question.deadlineMs));
    const maxBytes = this.maxBytesOf(batch);
    try {
      const answer = await this.options.endpoints.ask({ calls, lookups: batch.length, untilMs, maxBytes });
      if (!this.settleAll(batch, answer)) this.options.endpoints.leave(answer.served);
    } catch (error) {
      for (const entry of batch) this.tryAgain(entry, error, batch.length);
    } finally {
      this.lanes.free(lane);
      this.planFlush();
    }
  }

  /** One by itself may have all that its kind may; what many share is cut off early, and each of them asked for alone. */
  private maxBytesOf(batch: readonly Entry[]): number {
    const { maxResponseBytes, maxReceiptBytes } = this.options;
    const [first] = batch;
    const isReceipt = ({ question }: Entry) => question.receiptOf !== undefined;
    if (batch.length === 1 && first && !isReceipt(first)) return maxResponseBytes;
    const usual = batch.reduce((sum, entry) => sum + USUAL_BYTES[isReceipt(entry) ? 'receipt' : 'other'], 0);
    return Math.min(maxResponseBytes, batch.length === 1 ? maxReceiptBytes : Math.max(maxReceiptBytes, usual));
  }

  private settleAll(batch: readonly Entry[], { results, headBlockNumber, bytes }: BatchAnswer): boolean {
    let at = 0;
    let isBelieved = true;
    for (const entry of batch) {
      const { calls, asker } = entry.question;
      const own = results.slice(at, (at += calls.length));
      // Looked at closely where it may be much: a short answer has no long part.
      if (asker && bytes > USUAL_BYTES.receipt) asker.answered(batch.length === 1 ? bytes : sizeOf(own));
      isBelieved = this.settle(entry, own, headBlockNumber) && isBelieved;
    }
    return isBelieved;
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

  private tryAgain(entry: Entry, error: unknown, batchLength: number): void {
    const trouble = toChainUnavailable(error);
    const { receiptOf, asker, deadlineMs } = entry.question;
    if (batchLength === 1) {
      if (trouble.reason === 'rpc_timeout') asker?.answered(TIMED_OUT_BYTES);
      if (trouble instanceof AnswerTooLongError) {
        asker?.answered(trouble.beginning.length);
        if (receiptOf !== undefined && trouble.isOfReceipt) return entry.reject(this.rememberTooLarge(receiptOf));
      }
    }
    const delayMs = RETRY_DELAYS_MS[entry.attempts];
    if (delayMs === undefined || this.options.nowMs() + delayMs >= deadlineMs) return entry.reject(trouble);
    // One payment with an enormous receipt must not fail its neighbours again and again.
    if (batchLength > 1 && IS_OF_ONE.has(trouble.reason)) entry.lane = 'alone';
    entry.attempts++;
    setTimeout(() => this.enqueue(entry), entry.lane === 'alone' ? 0 : delayMs).unref();
  }

  private rememberTooLarge(txHash: string): ReceiptTooLargeError {
    this.tooLarge.keep(txHash, true);
    return new ReceiptTooLargeError(TOO_LARGE_FOR_MS);
  }
}

function shuttingDown(): ChainUnavailableError {
  return new ChainUnavailableError('shutting_down', 'The verifier is shutting down.');
}

function toChainUnavailable(error: unknown): ChainUnavailableError {
  if (error instanceof ChainUnavailableError) return error;
  return new ChainUnavailableError('rpc_malformed', "The RPC server's answer cannot be read.", { cause: error });
}
