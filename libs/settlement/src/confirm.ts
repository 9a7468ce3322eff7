import { MovedPayments } from '@tollgate/chain';
import {
  crashPoint,
  isFinal,
  type JobRecord,
  type Journal,
  type StepReceipt,
  type StepRecord,
  UnreadableJobError,
} from '@tollgate/journal';

import {
  type SettlementAttempt,
  type AttemptEnd,
  type SentBatch,
  Deferred,
  type EndedJob,
  type MinedJob,
} from './attempt.js';
import type { GasMemory } from './call-simulation.js';
import type { ContractWallets } from './contract-wallets.js';
import { settlementMethods } from './methods/registry.js';
import type { PaymentEntry } from './payment-entry.js';
import { countPayments, isOfContractWallet, minedSettlementOf, parseSettlementJob } from './settlement-job.js';

/** Waits until the batch is mined, and reads from its logs whether the payment was settled. */
export async function confirm(
  { jobs, gas }: { jobs: JobWatch; gas: GasMemory },
  sent: SentBatch,
  attempt: SettlementAttempt,
): Promise<AttemptEnd> {
  const { jobId, attempts } = sent;
  const isShared = attempts.length > 1;
  const ended = await sent.mined;
  if (ended.outcome !== 'mined') return { outcome: 'ended', jobId, isShared, ended };
  if (sent.paid === null) {
    crashPoint('S3');
    sent.paid = readPaid(attempts, ended);
    // A wallet may use any gas, which says nothing about the token.
    if (sent.isOfAccounts && sent.paid.size === attempts.length) {
      gas.learn(
        attempts.map(({ payment }) => payment),
        ended.gasUsed,
      );
    }
  }
  const amountBaseUnits = sent.paid.get(attempt);
  if (amountBaseUnits !== undefined) return { outcome: 'settled', txHash: ended.txHash, amountBaseUnits };
  // A failure is final only when no transaction of the job can be mined any more, in another block or as another
  // attempt.
  return { outcome: 'ended', jobId, isShared, ended: await jobs.untilEnded(jobId) };
}

function readPaid(attempts: readonly SettlementAttempt[], { logs }: MinedJob): Map<SettlementAttempt, string> {
  const paid = new Map<SettlementAttempt, string>();
  const moved = new MovedPayments(logs);
  for (const attempt of attempts) {
    const amount = moved.of(attempt.payment);
    if (amount !== null) paid.set(attempt, amount.toString());
  }
  return paid;
}

export interface MinedParts {
  jobs: JobWatch;
  wallets: ContractWallets;
  metrics: Record<'batchPayments' | 'minedSeconds', { observe(value: number): void }>;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
}

/** Call when a job of a relayer is mined, whichever process sent it. */
export async function noteMined(
  { jobs, wallets, metrics, nowMs }: MinedParts,
  job: JobRecord,
  step: StepRecord,
  receipt: StepReceipt,
): Promise<void> {
  jobs.noteMined(job.id, receipt);
  metrics.batchPayments.observe(countPayments(job));
  metrics.minedSeconds.observe(Math.max(0, nowMs() - job.submittedAtMs) / 1000);
  if (isOfContractWallet(step)) await wallets.conclude(job.id, readOutcome(job, receipt));
}

function readOutcome(job: JobRecord, { status, logs, gasUsed }: StepReceipt): { gasUsed: bigint; isSettled: boolean } {
  const moved = new MovedPayments(logs);
  const isMoved = (entry: PaymentEntry): boolean =>
    settlementMethods.of(entry.payment).isProvenBySuccess || moved.of(entry) !== null;
  return { gasUsed, isSettled: status === 'success' && parseSettlementJob(job).every(isMoved) };
}

const FIRST_LOOK_MS = 100;
const LONGEST_DELAY_MS = 2_000;
const UNWATCHED: EndedJob = { outcome: 'unwatched' };
/** The time that a process has to submit a job it has named: the journal does not accept it later. */
export const SUBMITTED_WITHIN_MS = 9_000;
/** After this time an unsubmitted job never will exist; the extra second allows for clock differences. */
export const UNKNOWN_AFTER_MS = SUBMITTED_WITHIN_MS + 1_000;

/**
 * Waits for jobs. A job of this process's lanes resolves as soon as it is mined; every other change, and all jobs of
 * other processes, are read from the journal.
 */
export class JobWatch {
  readonly #watched = new Map<string, WatchedJob>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(
    private readonly journal: Pick<Journal, 'readEachJob'>,
    private readonly onTrouble: (error: unknown) => void,
  ) {}

  /** The number of jobs being waited for. */
  get size(): number {
    return this.#watched.size;
  }

  /** Resolves when the job is over, or as soon as this process learns that it is mined. */
  untilMined(jobId: string): Promise<MinedJob | EndedJob> {
    const { mined, ended } = this.#watch(jobId);
    return Promise.race([mined.promise, ended.promise]);
  }

  untilEnded(jobId: string): Promise<EndedJob> {
    const watched = this.#watch(jobId);
    watched.isEndAwaited = true;
    return watched.ended.promise;
  }

  noteMined(jobId: string, { transactionHash, logs, gasUsed }: StepReceipt): void {
    const watched = this.#watched.get(jobId);
    watched?.mined.resolve({ outcome: 'mined', txHash: transactionHash, logs, gasUsed });
    if (!watched?.isEndAwaited) this.#watched.delete(jobId);
  }

  /** Closes for good: present and later waits resolve as `unwatched`. */
  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const { ended } of this.#watched.values()) ended.resolve(UNWATCHED);
    this.#watched.clear();
  }

  #watch(jobId: string): WatchedJob {
    let watched = this.#watched.get(jobId);
    if (!watched) {
      watched = new WatchedJob();
      if (this.#isClosed) {
        watched.ended.resolve(UNWATCHED);
        return watched;
      }
      this.#watched.set(jobId, watched);
      this.#planLook();
    }
    return watched;
  }

  #planLook(): void {
    this.#timer ??= setTimeout(() => void this.#look(), FIRST_LOOK_MS);
  }

  async #look(): Promise<void> {
    const due = [...this.#watched].filter(([, watched]) => watched.takeTurn());
    try {
      const jobs = await this.journal.readEachJob(due.map(([jobId]) => jobId));
      for (const [index, [jobId, watched]] of due.entries()) this.#judge(jobId, watched, jobs[index] ?? null);
    } catch (error) {
      this.onTrouble(error);
    }
    if (this.#timer === null) return;
    this.#timer = null;
    if (this.#watched.size > 0) this.#planLook();
  }

  #judge(jobId: string, watched: WatchedJob, job: JobRecord | UnreadableJobError | null): void {
    // It may still send: its payments wait until it can be read.
    if (job instanceof UnreadableJobError) return this.onTrouble(job);
    const isOver = job ? isFinal(job.state) : watched.ageMs > UNKNOWN_AFTER_MS;
    if (!isOver) return;
    this.#watched.delete(jobId);
    if (job === null) return watched.ended.resolve({ outcome: 'unknown' });
    const [step] = job.steps;
    const txHash = step ? minedSettlementOf(step) : null;
    const calldata = step && txHash !== null ? step.data : null;
    watched.ended.resolve({ outcome: 'over', txHash, calldata, isReverted: job.state === 'REVERTED' });
  }
}

class WatchedJob {
  readonly mined = new Deferred<MinedJob>();
  readonly ended = new Deferred<EndedJob>();
  isEndAwaited = false;
  readonly #sinceMs = performance.now();
  #delayMs = FIRST_LOOK_MS;
  #nextLookMs = this.#sinceMs;

  get ageMs(): number {
    return performance.now() - this.#sinceMs;
  }

  /** Whether the job is due for a look. The interval grows, because reading many jobs is expensive. */
  takeTurn(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#nextLookMs) return false;
    this.#nextLookMs = nowMs + this.#delayMs;
    this.#delayMs = Math.min(2 * this.#delayMs, LONGEST_DELAY_MS);
    return true;
  }
}
