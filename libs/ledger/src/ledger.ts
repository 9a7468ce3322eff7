import type { Cluster, Redis } from 'ioredis';

import { claimPayment, EXPIRY_SLACK_MS } from './claim-payment.js';
import { findPayment, isLeased, isSpent } from './find-payment.js';
import { answerKey, answersKey, birthKey, BUCKETS, bucketOf, entryKey } from './keys.js';
import { LedgerError } from './ledger-error.js';
import { locateEntry, locatePayment, type EntryId, type PaymentId } from './payment-id.js';
import { recordRefusal } from './record-refusal.js';
import { ScriptRunner } from './script-runner.js';
import { decodeAnswer, encodeAnswer } from './stored-answer.js';
import type { ClaimRequest, ClaimResult, FindRequest, FindResult, Lease, Refusal, StoredAnswer } from './types.js';

const CLOCK_SAMPLE_MS = 30_000;

export interface LedgerOptions {
  redis: Redis | Cluster;
  /** What stored answers may take of Redis's memory, over all buckets. Default 512 MiB. */
  answerStoreBytes?: number;
  /** How long an answer is kept at most; never longer than its payment's entry. Default 24 hours. */
  answerRetentionMs?: number;
  /** How long entries live at least. Give the largest redemption window in use: enlarging it later refuses payments. */
  retentionMs?: number;
  /** How many refused payments are kept for refund, the newest. Default 100,000. */
  refusalsKept?: number;
  /** How long an operation waits for Redis. Default 3 seconds. */
  timeoutMs?: number;
}

/**
 * The payments ledger: every payment is claimed once, answered once, and remembered for its window. Each operation is
 * one atomic script; all throw LedgerUnavailableError when Redis cannot be trusted to have done it.
 */
export class Ledger {
  readonly #redis: Redis | Cluster;
  readonly #runner: ScriptRunner;
  readonly #answerTtlMs: number;
  readonly #bucketBytes: number;
  readonly #refusalsKept: number;

  constructor(options: LedgerOptions) {
    const { redis, retentionMs = 0, timeoutMs = 3000, answerStoreBytes = 512 * 1024 * 1024 } = options;
    this.#redis = redis;
    this.#bucketBytes = Math.floor(answerStoreBytes / BUCKETS);
    this.#answerTtlMs = options.answerRetentionMs ?? 24 * 3600_000;
    this.#refusalsKept = options.refusalsKept ?? 100_000;
    this.#runner = new ScriptRunner({ redis, timeoutMs, retentionMs });
  }

  /**
   * Establishes what this Redis can vouch for and loads the scripts. Give the chain's head where it is known.
   * @throws LedgerError, with a hint, when Redis is unfit: evicting, read-only, too old.
   * @throws LedgerUnavailableError when it does not answer.
   */
  async open({ headBlockNumber }: { headBlockNumber?: number } = {}): Promise<void> {
    try {
      await this.#runner.within(this.#runner.restore(headBlockNumber ?? null));
    } catch (error) {
      throw error instanceof LedgerError && error.cause instanceof LedgerError ? error.cause : error;
    }
    await this.#sampleClock();
  }

  /** Takes one of the candidates for this owner until `leaseMs` from now, or says why not. Idempotent per owner. */
  claim(request: ClaimRequest): Promise<ClaimResult> {
    return claimPayment(this.#runner, request);
  }

  /** What the ledger knows of this retry key at this transaction or signed payment, without asking the chain. */
  find(request: FindRequest): Promise<FindResult> {
    return this.#runner.within(findPayment(this.#redis, request, this.nowMs()));
  }

  /** Whether a payment has bought its answer; under which key says nothing of that. */
  isSpent(id: EntryId): Promise<boolean> {
    return this.#runner.within(isSpent(this.#redis, id));
  }

  /** Whether some request holds a payment, and may yet spend it. */
  isLeased(id: EntryId): Promise<boolean> {
    return this.#runner.within(isLeased(this.#redis, id, this.nowMs()));
  }

  /** Lengthens a lease; false when it was taken over or ended. */
  async renew(lease: Lease, leaseMs: number): Promise<boolean> {
    const { slot, entry } = this.#locate(lease.id);
    const args = [slot, lease.generation, lease.owner, leaseMs, EXPIRY_SLACK_MS];
    return (await this.#runner.run('renew', [entry], args))[0] === 'renewed';
  }

  /**
   * Fixes what a metered payment comes to, before it is moved: the amount that is given, or the one that an earlier
   * holder fixed. Null: the lease is no longer this holder's, who must not have anything moved.
   */
  async fixAmount(lease: Lease, amountBaseUnits: bigint): Promise<bigint | null> {
    const { bucket, slot, entry } = this.#locate(lease.id);
    const args = [slot, lease.generation, lease.owner, amountBaseUnits.toString()];
    const [outcome, fixed] = await this.#runner.run('fixAmount', [birthKey(bucket), entry], args);
    return outcome === 'fixed' && fixed !== undefined ? BigInt(fixed) : null;
  }

  /**
   * Spends the payment and stores its answer (null: the marker alone, as when the answer does not fit the budget).
   * False: the lease is no longer this holder's, who must not answer.
   * @param receipt what `readReceipt` gives back where the answer is not kept; at most 64 bytes, which cost the least
   */
  async commit(lease: Lease, answer: StoredAnswer | null, receipt = ''): Promise<boolean> {
    const { bucket, slot, entry, answerName } = this.#locate(lease.id);
    const payload = answer ? encodeAnswer(answer) : '';
    const [outcome] = await this.#runner.run(
      'commit',
      [birthKey(bucket), entry, answerName, answersKey(bucket)],
      [slot, lease.generation, lease.owner, payload, this.#answerTtlMs, this.#bucketBytes, receipt],
    );
    return outcome !== 'stale';
  }

  /**
   * Gives the payment back unspent; a counted release uses up one of five. False: the lease was not this holder's.
   * `forgetsAmount`: nothing of this lease is on its way that could still move what it has fixed; what an earlier one
   * fixed stays.
   */
  async release(
    lease: Lease,
    { counted, forgetsAmount = false }: { counted: boolean; forgetsAmount?: boolean },
  ): Promise<boolean> {
    const { slot, entry } = this.#locate(lease.id);
    const args = [slot, lease.generation, lease.owner, counted ? 1 : 0, forgetsAmount ? 1 : 0];
    return (await this.#runner.run('release', [entry], args))[0] === 'released';
  }

  /** Gives back what this owner may hold of a transaction or signed payment, when nobody waits for the verdict. */
  async releaseOwner(id: EntryId, owner: string): Promise<void> {
    const entry = locateEntry(id);
    await this.#runner.run('releaseOwner', [entryKey(bucketOf(entry), entry)], [owner]);
  }

  /** The stored answer, byte for byte; null when the marker alone was kept. */
  readAnswer(id: PaymentId): Promise<StoredAnswer | null> {
    const read = async (): Promise<StoredAnswer | null> => {
      const bytes = await this.#redis.getBuffer(this.#locate(id).answerName);
      return bytes && decodeAnswer(bytes);
    };
    return this.#runner.within(read());
  }

  /** The receipt that a payment was committed with; null where its answer was kept, or there was none. */
  readReceipt(id: PaymentId): Promise<string | null> {
    const { slot, entry } = this.#locate(id);
    return this.#runner.within(this.#redis.hget(entry, `${slot}:receipt`));
  }

  /** Counts one more production for a spent payment; false when `max` are used up. */
  async countReproduction(id: PaymentId, max: number): Promise<boolean> {
    const { slot, entry } = this.#locate(id);
    return (await this.#runner.run('countReproduction', [entry], [slot, max]))[0] === 'counted';
  }

  /** Notes a payment that was made and refused, once per payment and failure, for refund; false where it was noted before. */
  recordRefusal(refusal: Refusal): Promise<boolean> {
    return recordRefusal(this.#runner, refusal, this.#refusalsKept);
  }

  /** Redis's clock in milliseconds, as of the last sample. */
  nowMs(): number {
    if (this.#runner.clock.isDue(CLOCK_SAMPLE_MS)) this.#sampleClock().catch(() => undefined);
    return this.#runner.clock.nowMs();
  }

  async #sampleClock(): Promise<void> {
    const sentAtMs = performance.now();
    const [seconds, micros] = await this.#runner.within(this.#redis.time());
    this.#runner.clock.observe(Number(seconds) * 1000 + Math.floor(Number(micros) / 1000), sentAtMs);
  }

  #locate(id: PaymentId): { bucket: number; slot: string; entry: string; answerName: string } {
    const { entry, slot } = locatePayment(id);
    const bucket = bucketOf(entry);
    return { bucket, slot, entry: entryKey(bucket, entry), answerName: answerKey(bucket, entry, slot) };
  }
}
