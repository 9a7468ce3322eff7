import type { SettlementResult } from '@tollgate/common';
import type { Journal } from '@tollgate/transactions';

import { describePending } from './describe-pending.js';
import { waitWithin } from './wait-within.js';

export interface JoinedSettlementsOptions {
  journal: Pick<Journal, 'readJob'>;
  /** How long somebody who asks is kept waiting at most. */
  waitMs: number;
  /** Redis's clock. */
  nowMs: () => number;
}

/** One payment while its settlement is under way in this process. */
export interface Settling {
  /** The job that carries it out, as far as is known; null before there is one. */
  jobId: string | null;
  /** Whether somebody still waits for it. */
  isWanted: () => boolean;
}

interface Joined extends Settling {
  result: Promise<SettlementResult>;
  wantedUntilMs: number;
}

interface Asker {
  deadlineMs: number;
  /** This process gives the relayer back. */
  signal: AbortSignal;
}

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
    { deadlineMs, signal }: Asker,
    carryOut: (settling: Settling) => Promise<SettlementResult>,
  ): Promise<SettlementResult> {
    const { journal, nowMs, waitMs } = this.options;
    const patienceMs = Math.min(deadlineMs - nowMs(), waitMs);
    // It may have been asked for before, here or elsewhere, and be on its way.
    if (patienceMs <= 0) return describePending(journal, this.#underWay.get(name)?.jobId ?? null);
    const settling = this.#join(name, nowMs() + patienceMs, carryOut);
    return (await waitWithin(settling.result, patienceMs, signal)) ?? describePending(journal, settling.jobId);
  }

  #join(name: string, wantedUntilMs: number, carryOut: (settling: Settling) => Promise<SettlementResult>): Joined {
    const known = this.#underWay.get(name);
    if (known) {
      known.wantedUntilMs = Math.max(known.wantedUntilMs, wantedUntilMs);
      return known;
    }
    const settling: Joined = {
      result: Promise.resolve({ outcome: 'pending', txHash: null }),
      jobId: null,
      wantedUntilMs,
      isWanted: () => this.options.nowMs() < settling.wantedUntilMs,
    };
    this.#underWay.set(name, settling);
    settling.result = carryOut(settling).finally(() => this.#underWay.delete(name));
    return settling;
  }
}
