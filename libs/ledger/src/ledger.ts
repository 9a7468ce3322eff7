import { bucketEventsKey, type RefundedFacts, type ReleasedFacts } from '@tollgate/book-events';
import {
  AcknowledgedCommands,
  explainRedisRefusal,
  ScriptRunner,
  StoreError,
  StoreUnavailableError,
} from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

import { askUntilKnown } from './ask-until-known.js';
import { claimPayment, EXPIRY_SLACK_MS, MAX_PAUSES, MAX_RELEASES, PAUSE_SLACK_MS } from './claim-payment.js';
import { closePayment, recordRefunded, type CloseRequest, type CloseResult } from './close-payment.js';
import { restoreContinuity, type ChainHead, type LedgerRunner } from './continuity.js';
import { findPayment, isClosed, isLeased, recallPayment, whySpent, type EntryServers } from './find-payment.js';
import { answerKey, answersKey, birthKey, bucketOf, BUCKETS, entryKey } from './keys.js';
import { LEDGER_SCRIPTS } from './ledger-scripts.js';
import { trimOutbox, type OutboxLength } from './outbox.js';
import { locateEntry, locatePayment, nameOfPayment, type EntryId, type PaymentId } from './payment-id.js';
import { recordRefusal } from './refusals.js';
import { decodeAnswer, encodeAnswer } from './stored-answer.js';
import type {
  BookOptions,
  LedgerOptions,
  ClaimRequest,
  ClaimResult,
  CommitTerms,
  FindRequest,
  FindResult,
  Lease,
  Refusal,
  ReproductionCount,
  StoredAnswer,
} from './types.js';

const CLOCK_SAMPLE_MS = 30_000;
const REQUEST_ENDED: ReleasedFacts = { reason: 'request_ended', sale: null, timeline: null };

/**
 * The payments ledger: every payment is claimed once, answered once, and remembered for its window. Each operation is
 * one atomic script. All throw StoreUnavailableError when it is not certain that Redis did it.
 */
export class Ledger {
  readonly #redis: Redis | Cluster;
  readonly #runner: LedgerRunner;
  readonly #acknowledged: AcknowledgedCommands | undefined;
  readonly #answerTtlMs: number;
  readonly #bucketBytes: number;
  readonly #refusalsKept: number;
  readonly #book: BookOptions | null;
  readonly #replicas: number;
  /** The events that no claim counts itself reached the limit at the last look. */
  #isRefusedFull = false;

  constructor(options: LedgerOptions) {
    const { redis, retentionMs = 0, timeoutMs = 3000, answerStoreBytes = 512 * 1024 * 1024 } = options;
    this.#redis = redis;
    this.#bucketBytes = Math.floor(answerStoreBytes / BUCKETS);
    this.#answerTtlMs = options.answerRetentionMs ?? 24 * 3600_000;
    this.#refusalsKept = options.refusalsKept ?? 100_000;
    this.#book = options.book ?? null;
    const booked = this.#book !== null;
    this.#acknowledged = options.durability ? new AcknowledgedCommands(redis, options.durability) : undefined;
    const replicas = options.durability?.replicas ?? 0;
    this.#replicas = replicas;
    this.#runner = new ScriptRunner({
      redis,
      acknowledged: this.#acknowledged,
      timeoutMs,
      restore: (head) =>
        restoreContinuity(redis, {
          chainIds: options.chainIds,
          head: head ?? undefined,
          retentionMs,
          replicas,
          booked,
        }),
      toError: (reason, cause) =>
        new StoreUnavailableError('ledger', `The ledger's Redis is unavailable: ${reason}`, { cause }),
    });
  }

  /**
   * Checks whether this Redis may have lost data, and loads the scripts. Pass a chain's head if known.
   * @throws StoreError, with a hint, when Redis is unfit: evicting, read-only, too old
   * @throws StoreUnavailableError when it does not answer
   */
  async open(head?: ChainHead): Promise<void> {
    try {
      await this.#runner.within(this.#runner.restore(head));
    } catch (error) {
      if (error instanceof StoreError && error.cause instanceof StoreError) throw error.cause;
      throw explainRedisRefusal(error, this.#redis) ?? error;
    }
    await this.#sampleClock();
  }

  /**
   * Claims one of the candidates for this owner until `leaseMs` from now, or returns the reason why not. Idempotent per
   * owner.
   * @throws OutboxFullError for a payment that the ledger does not know, while the outbox of the book is full
   */
  claim(request: ClaimRequest): Promise<ClaimResult> {
    return claimPayment(this.#runner, request, this.#bucketLimit);
  }

  /** Whether changes are reported to the book, so that their facts are needed. */
  get isBooked(): boolean {
    return this.#book !== null;
  }

  /** What the ledger knows about this retry key at this transaction or signed payment, without asking the chain. */
  find(request: FindRequest): Promise<FindResult> {
    return this.#runner.within(findPayment(this.#servers, request, this.nowMs()));
  }

  /** Why a payment buys nothing any more, under whichever retry key; null if it may. */
  whySpent(id: EntryId): Promise<'payment_used' | 'payment_refunded' | null> {
    return this.#runner.within(whySpent(this.#servers, id));
  }

  /** Whether a payment is closed for a refund. */
  isClosed(id: PaymentId): Promise<boolean> {
    return this.#runner.within(isClosed(this.#servers, id));
  }

  /** Whether a request holds a payment and may still spend it. */
  isLeased(id: EntryId): Promise<boolean> {
    return this.#runner.within(isLeased(this.#servers, id, this.nowMs()));
  }

  /** Whether a request has held this payment, so that it is no refused money. See `recallPayment`. */
  recall(payment: { id: PaymentId; minedAtMs: number }): Promise<'known' | 'unknown' | 'forgotten'> {
    return this.#runner.within(recallPayment(this.#servers, payment));
  }

  /** Extends a lease; false when it has ended or another request took it over. */
  async renew(lease: Lease, leaseMs: number): Promise<boolean> {
    const { slot, entry } = this.#locate(lease.id);
    const args = [slot, lease.generation, lease.owner, leaseMs, EXPIRY_SLACK_MS];
    return (await this.#runner.run(LEDGER_SCRIPTS.renew, [entry], args))[0] === 'renewed';
  }

  /**
   * Fixes the amount of a metered payment before it is moved: the given amount, or the one that an earlier holder
   * fixed. Null when the lease belongs to another holder by now: then nothing may be moved.
   */
  async fixAmount(lease: Lease, amountBaseUnits: bigint): Promise<bigint | null> {
    const { bucket, slot, entry } = this.#locate(lease.id);
    const args = [slot, lease.generation, lease.owner, amountBaseUnits.toString()];
    const { chainId } = lease.id;
    const keys = [birthKey(bucket, chainId), entry];
    const chain = { chainId, blockNumber: null };
    const [outcome, fixed] = await this.#runner.run(LEDGER_SCRIPTS.fixAmount, keys, args, chain);
    return outcome === 'fixed' && fixed !== undefined ? BigInt(fixed) : null;
  }

  /**
   * Spends the payment and stores its answer (null stores only the marker, as when the answer exceeds the budget).
   * False when the lease belongs to another holder by now: then no answer may be sent.
   * @throws StoreUnavailableError also where Redis replies after `repeatForMs` that the payment is not spent
   */
  async commit(
    lease: Lease,
    answer: StoredAnswer | null,
    { receipt = '', facts = null, repeatForMs = 0 }: CommitTerms = {},
  ): Promise<boolean> {
    const { bucket, slot, entry, answerName } = this.#locate(lease.id);
    const payload = answer ? encodeAnswer(answer) : '';
    const keys = [birthKey(bucket, lease.id.chainId), entry, answerName, answersKey(bucket), bucketEventsKey(bucket)];
    const args = [
      ...[slot, lease.generation, lease.owner, payload, this.#answerTtlMs, this.#bucketBytes, receipt],
      ...[
        nameOfPayment(lease.id),
        this.#encode(facts),
        EXPIRY_SLACK_MS,
        repeatForMs > 0 ? this.nowMs() + repeatForMs : '',
      ],
    ];
    const chain = { chainId: lease.id.chainId, blockNumber: null };
    const commit = () => this.#runner.run(LEDGER_SCRIPTS.commit, keys, args, chain);
    const [outcome] = await askUntilKnown(commit, repeatForMs);
    if (outcome === 'late') throw new StoreUnavailableError('ledger', 'Redis read the commit after its deadline.');
    return outcome !== 'stale';
  }

  /**
   * Releases the payment unspent; a counted release uses up one of five. False when the lease was not this holder's.
   * `forgetsAmount`: drops the amount fixed under this lease, because nothing sent under it can still be moved; an
   * amount fixed under an earlier lease stays. `pauseMs`: for how long no claim of it succeeds; a payment has at most 50 pauses.
   * @param facts for a payment whose money has arrived
   */
  async release(
    lease: Lease,
    terms: { counted: boolean; forgetsAmount?: boolean; pauseMs?: number },
    facts: ReleasedFacts | null = null,
  ): Promise<boolean> {
    const { counted, forgetsAmount = false, pauseMs = 0 } = terms;
    const { bucket, slot, entry } = this.#locate(lease.id);
    const holder = [slot, lease.generation, lease.owner, counted ? 1 : 0, forgetsAmount ? 1 : 0];
    const pause = [Math.ceil(pauseMs), MAX_RELEASES, MAX_PAUSES, PAUSE_SLACK_MS];
    const args = [...holder, ...pause, nameOfPayment(lease.id), this.#encode(facts)];
    return (await this.#runner.run(LEDGER_SCRIPTS.release, [entry, bucketEventsKey(bucket)], args))[0] === 'released';
  }

  /**
   * Releases what this owner may hold of a transaction or signed payment, after its request stopped waiting for the
   * verdict. An authorization that a transaction settled has an entry of its own, and is not released here.
   */
  async releaseOwner(id: EntryId, owner: string): Promise<void> {
    const entry = locateEntry(id);
    const bucket = bucketOf(entry);
    // A transaction has moved its money; of a signed payment nothing is known here.
    const facts = 'txHash' in id ? REQUEST_ENDED : null;
    const keys = [entryKey(bucket, entry), bucketEventsKey(bucket)];
    await this.#runner.run(LEDGER_SCRIPTS.releaseOwner, keys, [owner, entry, this.#encode(facts)]);
  }

  /** The stored answer, byte for byte; null when only the marker was kept. */
  readAnswer(id: PaymentId): Promise<StoredAnswer | null> {
    const read = async (): Promise<StoredAnswer | null> => {
      const { answerName } = this.#locate(id);
      const bytes = this.#acknowledged
        ? ((await this.#acknowledged.run(answerName, ['getBuffer', answerName])) as Buffer | null)
        : await this.#redis.getBuffer(answerName);
      return bytes && decodeAnswer(bytes);
    };
    return this.#runner.within(read());
  }

  /** The receipt that a payment was committed with; null when its answer was kept or there was no receipt. */
  readReceipt(id: PaymentId): Promise<string | null> {
    const { slot, entry } = this.#locate(id);
    const field = `${slot}:receipt`;
    if (!this.#acknowledged) return this.#runner.within(this.#redis.hget(entry, field));
    return this.#runner.within(this.#acknowledged.run(entry, ['hget', entry, field])) as Promise<string | null>;
  }

  /** Counts one more reproduction of a spent payment's answer, unless `max` is reached or what it pays for is busy. */
  async countReproduction(id: PaymentId, max: number): Promise<ReproductionCount> {
    const { slot, entry } = this.#locate(id);
    const [outcome, waitMs] = await this.#runner.run(LEDGER_SCRIPTS.countReproduction, [entry], [slot, 1, max]);
    if (outcome === 'paused') return { outcome, retryAfterMs: Number(waitMs) };
    return { outcome: outcome === 'counted' ? 'counted' : 'exhausted' };
  }

  /** For a counted reproduction that came to no answer. @param pauseMs for how long there is to be no other */
  async giveBackReproduction(id: PaymentId, pauseMs = 0): Promise<void> {
    const { slot, entry } = this.#locate(id);
    await this.#runner.run(LEDGER_SCRIPTS.countReproduction, [entry], [slot, -1, Math.ceil(pauseMs)]);
  }

  /**
   * Records a payment that was made and refused, for a refund, once per payment and failure, and drops the oldest beyond
   * the number that is kept; false when it is already recorded.
   */
  recordRefusal(refusal: Refusal): Promise<boolean> {
    return recordRefusal(this.#runner, refusal, { kept: this.#refusalsKept, isBooked: this.isBooked });
  }

  /** See `closePayment`. */
  close(request: CloseRequest): Promise<CloseResult> {
    return closePayment(this.#runner, request, { isBooked: this.isBooked, replicas: this.#replicas });
  }

  /** See `recordRefunded`. */
  recordRefunded(id: PaymentId, facts: RefundedFacts, { again = false } = {}): Promise<boolean> {
    return recordRefunded(this.#runner, id, facts, { isBooked: this.isBooked, again });
  }

  /** Trims what the bookkeeper has acknowledged, and returns how much is left. Call every second or so. */
  async trimOutbox(): Promise<OutboxLength> {
    const length = await this.#runner.within(trimOutbox(this.#redis));
    this.#isRefusedFull = this.#book !== null && length.refused >= this.#book.outboxLimit;
    return length;
  }

  /** The time of Redis's clock in milliseconds, from the last sample. */
  nowMs(): number {
    if (this.#runner.clock.isDue(CLOCK_SAMPLE_MS)) this.#sampleClock().catch(() => undefined);
    return Math.floor(this.#runner.clock.nowMs());
  }

  get #servers(): EntryServers {
    return { redis: this.#redis, acknowledged: this.#acknowledged };
  }

  #sampleClock(): Promise<void> {
    return this.#runner.within(this.#runner.clock.sample());
  }

  get #bucketLimit(): number | null {
    if (this.#book === null) return null;
    return this.#isRefusedFull ? 0 : Math.ceil(this.#book.outboxLimit / BUCKETS);
  }

  #encode(facts: object | null): string {
    return facts === null || !this.isBooked ? '' : JSON.stringify(facts);
  }

  #locate(id: PaymentId): { bucket: number; slot: string; entry: string; answerName: string } {
    const { entry, slot } = locatePayment(id);
    const bucket = bucketOf(entry);
    return { bucket, slot, entry: entryKey(bucket, entry), answerName: answerKey(bucket, entry, slot) };
  }
}
