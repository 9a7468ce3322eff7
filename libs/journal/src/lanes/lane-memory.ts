import type { Head } from '../chain/chain.js';
import type { WaitReason } from '../jobs/job.js';
import { FlightWatch } from './flight-watch.js';
import type { LaneSettings } from './lane-settings.js';
import { LockedJobs } from './locked-jobs.js';
import { LookPace } from './look-pace.js';
import { WaitingJobs } from './waiting-jobs.js';

/** What a process remembers of a lane while it holds the lease. */
export interface LaneMemory {
  watch: FlightWatch;
  wallet: EmptyWallet;
  retries: PlanRetries;
  pace: LookPace;
  nextNonce: NextNonce;
  locked: LockedJobs;
  gap: NonceGap;
  /** The same gap, once all RPC servers show it. */
  agreedGap: NonceGap;
  waits: WaitingJobs;
  /** Why the lane starts nothing new, as of the last look; null: it does. */
  stop: WaitReason | null;
  /** The gas of a transfer of nothing to the wallet itself, as last estimated: some chains ask more than 21,000. */
  cancel: { gas: bigint };
  /** Jobs whose signed payment is being presented: some are asked about again at each look, in turn. */
  presented: Set<string>;
}

/** Created anew with each lease. */
export function createLaneMemory({ planRetryMs, longestPlanRetryMs, firstLookMs, pollMs }: LaneSettings): LaneMemory {
  return {
    watch: new FlightWatch(),
    wallet: new EmptyWallet(),
    retries: new PlanRetries({ firstMs: planRetryMs, longestMs: longestPlanRetryMs }),
    pace: new LookPace({ firstMs: firstLookMs, longestMs: pollMs }),
    nextNonce: new NextNonce(),
    locked: new LockedJobs(),
    gap: new NonceGap(),
    agreedGap: new NonceGap(),
    waits: new WaitingJobs(),
    stop: null,
    cancel: { gas: 21_000n },
    presented: new Set(),
  };
}

/** What this process remembers of a wallet that cannot pay for gas: when to try again, and with which job. */
class EmptyWallet {
  #isEmpty = false;
  #triedAtMs = -Infinity;
  /** The job whose plan the wallet could not pay for, as far as this process knows. */
  jobId: string | null = null;

  /** True from the moment this process learns that the wallet is empty until the lane resumes. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  note(jobId: string | null = this.jobId): void {
    this.#isEmpty = true;
    this.jobId = jobId;
  }

  /** Returns true at most once per interval: the wallet may be tried now. */
  takeTurn(everyMs: number): boolean {
    this.#isEmpty = true;
    if (performance.now() - this.#triedAtMs < everyMs) return false;
    this.#triedAtMs = performance.now();
    return true;
  }

  forget(): void {
    this.#isEmpty = false;
    this.#triedAtMs = -Infinity;
    this.jobId = null;
  }
}

/**
 * The nonce that a lane is expected to give out next, so that bytes can be signed before it is reserved. The journal
 * decides: bytes under any other nonce than the one it gives out are discarded.
 */
class NextNonce {
  #next: number | null = null;

  /** @param counter the lane's counter as of a moment ago; it only increases */
  see(counter: number): void {
    this.#next = Math.max(counter, this.#next ?? 0);
  }

  /** The journal gave out this nonce. */
  noteTaken(nonce: number): void {
    this.see(nonce + 1);
  }

  /** The nonce to sign under; the next caller gets the next one. Null: unknown. */
  take(): number | null {
    return this.#next === null ? null : this.#next++;
  }

  /** The expected nonce was wrong, or was not used. */
  forget(): void {
    this.#next = null;
  }
}

interface PutOff {
  delayMs: number;
  untilMs: number;
  /** `takeDue` has returned it since it came due. */
  isTaken: boolean;
}

/**
 * When the planner is asked again about jobs it failed at without a verdict. The delay doubles each time, so that one
 * failing job does not keep the lane busy. Kept in memory only; losing it costs one extra call.
 */
class PlanRetries {
  readonly #jobs = new Map<string, PutOff>();

  constructor(private readonly options: { firstMs: number; longestMs: number }) {}

  putOff(jobId: string): void {
    const { firstMs, longestMs } = this.options;
    const delayMs = Math.min(longestMs, (this.#jobs.get(jobId)?.delayMs ?? firstMs / 2) * 2);
    this.#jobs.set(jobId, { delayMs, untilMs: performance.now() + delayMs, isTaken: false });
  }

  isPutOff(jobId: string): boolean {
    return performance.now() < (this.#jobs.get(jobId)?.untilMs ?? -Infinity);
  }

  /** The planner has answered, or the job has ended. */
  forget(jobId: string): void {
    this.#jobs.delete(jobId);
  }

  /** The jobs that are due, each returned once. */
  takeDue(): string[] {
    const due: string[] = [];
    for (const [jobId, job] of this.#jobs) {
      if (job.isTaken || performance.now() < job.untilMs) continue;
      job.isTaken = true;
      due.push(jobId);
    }
    return due;
  }
}

/**
 * Notices a nonce below all steps in flight, or below the next one where nothing is in flight, that the chain has not seen
 * used: a reorganisation has removed the transaction of a job that had ended, whose bytes the journal no longer has, or the
 * job that has it waits for an operator.
 */
class NonceGap {
  #seen: { nonce: number; sinceMs: number; sinceBlock: number } | null = null;
  /** The nonce that all later transactions wait for; null: none, or not for long enough. */
  nonce: number | null = null;

  /**
   * Null while there is no gap, or it may pass: a node may be behind.
   * @param lowest the lowest nonce in flight, or the next to give out
   */
  look(
    lowest: number,
    { minedNonce: nonce, number }: Pick<Head, 'minedNonce' | 'number'>,
    { nonceDoubtBlocks, nonceDoubtMs }: Pick<LaneSettings, 'nonceDoubtBlocks' | 'nonceDoubtMs'>,
  ): Error | null {
    const nowMs = performance.now();
    if (lowest <= nonce) this.#seen = null;
    else if (this.#seen?.nonce !== nonce) this.#seen = { nonce, sinceMs: nowMs, sinceBlock: number };
    this.nonce = null;
    if (this.#seen === null) return null;
    const { sinceMs, sinceBlock } = this.#seen;
    if (number - sinceBlock < nonceDoubtBlocks || nowMs - sinceMs < nonceDoubtMs) return null;
    this.nonce = nonce;
    return new Error(
      `No transaction of the journal in flight has nonce ${nonce}, and the chain has none mined: all from nonce ${lowest} on wait for it. See tollgate wallets list; resume the job that has it, or run tollgate wallets fill.`,
    );
  }
}
