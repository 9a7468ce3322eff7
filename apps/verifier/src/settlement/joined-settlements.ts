import type { SettlementResult } from '@tollgate/common';
import type { Journal } from '@tollgate/journal';

import { describePending } from './describe-pending.js';
import type { UnmadeSettlement, SettlementRecords } from './settlement-records.js';
import { waitWithin } from './wait-within.js';

export interface JoinedSettlementsOptions {
  journal: Pick<Journal, 'readJob'>;
  records: Pick<SettlementRecords, 'keepAnswer'>;
  /** The longest time that an asker waits for the result. */
  waitMs: number;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
  onTrouble: (error: unknown) => void;
}

/** A payment whose settlement is in progress in this process. */
export interface Settling {
  /** The job that settles it, as far as known; null before there is one. */
  jobId: string | null;
  /**
   * Nothing was sent: the question that began this settlement had been answered before, by some process, and the result
   * repeats that answer.
   */
  isAnswered: boolean;
  /** Whether an asker still waits for it. */
  isWanted: () => boolean;
}

interface Joined extends Settling {
  /** The question that began it. */
  questionId: string;
  result: Promise<SettlementResult>;
  wantedUntilMs: number;
}

interface Asker {
  questionId: string;
  deadlineMs: number;
  /** Aborted when this process releases the relayer. */
  signal: AbortSignal;
}

/** Longer than a copy of a question that was taken in time can be delayed before it claims its payment. */
const ANSWER_KEPT_MS = 60_000;

/**
 * Runs each settlement once in this process, and shares the result with every asker in the meantime (single-flight).
 */
export class JoinedSettlements {
  readonly #underWay = new Map<string, Joined>();

  constructor(private readonly options: JoinedSettlementsOptions) {}

  /** Payments whose settlement is in progress in this process. */
  get size(): number {
    return this.#underWay.size;
  }

  /**
   * The result of the settlement of that name, started by `carryOut` unless already in progress; `pending` once the
   * asker's time is over.
   */
  async settle(
    name: string,
    asker: Asker,
    carryOut: (settling: Settling) => Promise<SettlementResult>,
  ): Promise<SettlementResult> {
    const { journal, nowMs, waitMs } = this.options;
    const { questionId, deadlineMs, signal } = asker;
    const patienceMs = Math.min(deadlineMs - nowMs(), waitMs);
    // It may have been asked for before, here or elsewhere, and be in progress.
    if (patienceMs <= 0) return describePending(journal, this.#underWay.get(name)?.jobId ?? null);
    const settling = this.#join(name, { questionId, wantedUntilMs: nowMs() + patienceMs }, carryOut);
    const result = await waitWithin(settling.result, patienceMs, signal);
    if (result === null) return describePending(journal, settling.jobId);
    // The repeated answer belongs to the question that began it; another question has to start its own settlement.
    if (settling.isAnswered) return settling.questionId === questionId ? result : this.settle(name, asker, carryOut);
    const isUnmade = result.outcome === 'failed' || result.outcome === 'unavailable';
    return isUnmade ? this.#answer(name, asker, result, settling.jobId) : result;
  }

  /**
   * Delivers a failure. After it the payer may sign anew, so every copy of the question must get the same answer first,
   * and no copy may have the payment settled elsewhere.
   */
  async #answer(
    name: string,
    { questionId, deadlineMs }: Asker,
    result: UnmadeSettlement,
    jobId: string | null,
  ): Promise<SettlementResult> {
    // It was refused as it stands, before anything was claimed.
    if (jobId === null && result.outcome === 'failed') return result;
    const { journal, records, nowMs, onTrouble } = this.options;
    const keptMs = Math.ceil(Math.max(deadlineMs - nowMs(), 0) + ANSWER_KEPT_MS);
    try {
      const holder = await records.keepAnswer({ name, questionId, keptMs }, jobId, result);
      return holder === null ? result : await describePending(journal, holder);
    } catch (error) {
      onTrouble(error);
      return { outcome: 'pending', txHash: null };
    }
  }

  #join(
    name: string,
    { questionId, wantedUntilMs }: Pick<Joined, 'questionId' | 'wantedUntilMs'>,
    carryOut: (settling: Settling) => Promise<SettlementResult>,
  ): Joined {
    const known = this.#underWay.get(name);
    if (known) {
      known.wantedUntilMs = Math.max(known.wantedUntilMs, wantedUntilMs);
      return known;
    }
    const settling: Joined = {
      result: Promise.resolve({ outcome: 'pending', txHash: null }),
      questionId,
      jobId: null,
      isAnswered: false,
      wantedUntilMs,
      isWanted: () => this.options.nowMs() < settling.wantedUntilMs,
    };
    this.#underWay.set(name, settling);
    settling.result = carryOut(settling).finally(() => this.#underWay.delete(name));
    return settling;
  }
}
