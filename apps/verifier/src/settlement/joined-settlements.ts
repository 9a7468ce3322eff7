import type { SettlementResult } from '@tollgate/common';
import type { Journal } from '@tollgate/transactions';

import { describePending } from './describe-pending.js';
import type { UnmadeSettlement, SettlementRecords } from './settlement-records.js';
import { waitWithin } from './wait-within.js';

export interface JoinedSettlementsOptions {
  journal: Pick<Journal, 'readJob'>;
  records: Pick<SettlementRecords, 'keepAnswer'>;
  /** How long somebody who asks is kept waiting at most. */
  waitMs: number;
  /** Redis's clock. */
  nowMs: () => number;
  onTrouble: (error: unknown) => void;
}

/** One payment while its settlement is under way in this process. */
export interface Settling {
  /** The job that carries it out, as far as is known; null before there is one. */
  jobId: string | null;
  /** Nothing was done: the question that began it was told before, by whichever process, what comes of it now. */
  isAnswered: boolean;
  /** Whether somebody still waits for it. */
  isWanted: () => boolean;
}

interface Joined extends Settling {
  /** Whose question began it. */
  questionId: string;
  result: Promise<SettlementResult>;
  wantedUntilMs: number;
}

interface Asker {
  questionId: string;
  deadlineMs: number;
  /** This process gives the relayer back. */
  signal: AbortSignal;
}

/** Longer than a copy of a question that is taken in time may be held up before it claims its payment. */
const ANSWER_KEPT_MS = 60_000;

/** Carries out each settlement once in this process, for all who ask for it meanwhile. */
export class JoinedSettlements {
  readonly #underWay = new Map<string, Joined>();

  constructor(private readonly options: JoinedSettlementsOptions) {}

  /** Payments whose settlement is under way in this process. */
  get size(): number {
    return this.#underWay.size;
  }

  /** The end of the settlement of that name, begun by `carryOut` unless it is under way; `pending` once the asker's time is over. */
  async settle(
    name: string,
    asker: Asker,
    carryOut: (settling: Settling) => Promise<SettlementResult>,
  ): Promise<SettlementResult> {
    const { journal, nowMs, waitMs } = this.options;
    const { questionId, deadlineMs, signal } = asker;
    const patienceMs = Math.min(deadlineMs - nowMs(), waitMs);
    // It may have been asked for before, here or elsewhere, and be on its way.
    if (patienceMs <= 0) return describePending(journal, this.#underWay.get(name)?.jobId ?? null);
    const settling = this.#join(name, { questionId, wantedUntilMs: nowMs() + patienceMs }, carryOut);
    const result = await waitWithin(settling.result, patienceMs, signal);
    if (result === null) return describePending(journal, settling.jobId);
    // An old answer is nothing to another question, which has only come meanwhile.
    if (settling.isAnswered) return settling.questionId === questionId ? result : this.settle(name, asker, carryOut);
    const isUnmade = result.outcome === 'failed' || result.outcome === 'unavailable';
    return isUnmade ? this.#answer(name, asker, result, settling.jobId) : result;
  }

  /**
   * Who is told that it failed, or that nothing was done, may sign anew: not before every copy of his question is told the
   * same, nor while one of them may have it settled elsewhere.
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
