import { lowerHex } from '@tollgate/protocol';

import type { Chain } from '../chain/chain.js';
import type { LaneId } from '../jobs/job.js';
import type { JobPlanner, JobQueue, LaneSigner, JudgeStep, ReportTransaction } from '../jobs/ports.js';
import type { SubmitResult } from '../jobs/transition.js';
import { createLaneMemory } from '../lanes/lane-memory.js';
import { DEFAULT_LANE_SETTINGS, type LaneSettings } from '../lanes/lane-settings.js';
import { LeaseLostError, type AutomaticFills, type LaneWork } from '../lanes/lane-work.js';
import { pause } from '../pause.js';
import { advanceJob, type AdvanceOutcome } from '../steps/advance-job.js';
import { launchJob, type PlannedJob } from '../steps/launch-job.js';
import { explainError, explainStop, lackOfRoom } from '../steps/wait-reasons.js';
import type { Journal } from '../store/journal.js';
import { confirmLane } from './confirm-lane.js';
import { JobLine } from './job-line.js';
import { holdLane, LaneShare, type HeldLane } from './lane-lease.js';
import { tellLane } from './tell-waits.js';
import { tendGap } from './tend-gap.js';
import { reconcileLane, tendLane } from './tend-lane.js';

export interface LaneRunnerOptions {
  journal: Journal;
  chain: Chain;
  signer: LaneSigner;
  planner: JobPlanner;
  judgeStep: JudgeStep;
  /** Describes each final transaction for the book; missing or null: nothing is reported. */
  report?: ReportTransaction | null;
  /** Missing or null: only operators fill gaps. */
  fills?: AutomaticFills | null;
  /** Unique among all processes that ever ran. */
  owner: string;
  settings?: Partial<LaneSettings>;
  /** One for all runners of a process, so that several processes end up with about the same number of lanes each. */
  share?: LaneShare;
  /**
   * Runs beside the lane while this process holds it: receives its wake-ups and publishes its events. `signal` aborts
   * when the lane is released or lost; the release then waits a while for this to resolve. A rejection is reported, and
   * it is started again.
   */
  whileHeld?: (held: { lane: LaneId; token: number; signal: AbortSignal }) => Promise<void>;
  /** Receives errors that are retried: Redis or the chain does not answer, or a planner throws. */
  onTrouble: (error: unknown) => void;
}

/**
 * Runs one lane whenever this process has its lease: advances jobs, oldest first, and confirms or replaces steps in
 * flight. Several runners for one lane, in any number of processes, take turns.
 */
export class LaneRunner implements JobQueue {
  readonly lane: LaneId;
  readonly #options: LaneRunnerOptions;
  readonly #settings: LaneSettings;
  readonly #line = new JobLine();
  readonly #share: LaneShare;
  readonly #stop = new AbortController();
  readonly #active = new Set<Promise<void>>();
  #running: Promise<void> | null = null;
  #work: LaneWork | null = null;
  /** How many more jobs may take a nonce, as of the last look. */
  #room = 0;
  #reconciledAtMs = -Infinity;
  /** Whether the lane was paused or frozen at the last look. */
  #isLaneStopped = false;

  constructor(options: LaneRunnerOptions) {
    this.#options = options;
    this.#settings = { ...DEFAULT_LANE_SETTINGS, ...options.settings };
    this.#share = options.share ?? new LaneShare();
    this.lane = { chainId: options.chain.chainId, address: lowerHex(options.signer.address) };
  }

  /** True while this process holds the lane. */
  get isHolding(): boolean {
    return this.#work !== null;
  }

  /** True while a job that is submitted now would get a nonce at once, as far as is known. */
  get hasRoom(): boolean {
    return this.#work !== null && this.#room > 0 && this.#active.size < this.#settings.jobsAtOnce;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Starts nothing new, gives running work some time to finish, and releases the lane. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Looks at a job soon if this process holds the lane. The lane's holder finds every open job by itself in time. */
  wake(jobId: string): void {
    if (!this.#work) return;
    this.#line.join(jobId);
    this.#pump();
  }

  /**
   * Submits a job that is already planned. If this process holds the lane and there is room, the job is signed first
   * and written together with its bytes; otherwise it waits its turn like any other.
   * @throws StoreUnavailableError: whether it was written is unknown
   */
  async launch(planned: PlannedJob): Promise<SubmitResult> {
    const { jobId } = planned;
    const work = this.#work;
    if (!work || !this.hasRoom) return this.#submit(planned);
    this.#room--;
    this.#line.begin(jobId);
    const { written, carry } = launchJob(work, planned);
    const submitted = written.then((result) => result ?? this.#submit(planned));
    this.#carry(work, jobId, () => submitted.then(carry, carry));
    return submitted;
  }

  async #submit({ step: _, ...named }: PlannedJob): Promise<SubmitResult> {
    const submitted = await this.#options.journal.submitNamed(named);
    this.wake(named.jobId);
    return submitted;
  }

  async #run(): Promise<void> {
    const { journal, owner, onTrouble } = this.#options;
    const { leaseMs } = this.#settings;
    const stop = this.#stop.signal;
    while (!stop.aborted) {
      const over = new AbortController();
      const hold = () => holdLane(journal, this.lane, { owner, leaseMs, onLost: () => over.abort() });
      const held = await this.#share.take(hold, leaseMs, stop).catch(onTrouble);
      if (held) await this.#hold(held, AbortSignal.any([over.signal, stop])).finally(() => this.#share.giveBack());
      else await pause(leaseMs / 4 + this.#share.patienceMs(leaseMs), stop);
    }
  }

  async #hold(held: HeldLane, over: AbortSignal): Promise<void> {
    const { onTrouble } = this.#options;
    const work = this.#begin(held);
    const leaving = new AbortController();
    const beside = this.#runWhileHeld(held, AbortSignal.any([over, leaving.signal]));
    try {
      while (!over.aborted) {
        await this.#reconcile(work);
        await this.#look(work);
        await work.pace.rest(over);
      }
    } catch (error) {
      onTrouble(error);
    } finally {
      this.#work = null;
      this.#line.clear();
      leaving.abort();
      await this.#waitForWork(beside);
      await held.release().catch(onTrouble);
    }
  }

  #begin(held: HeldLane): LaneWork {
    const { journal, chain, signer, planner, judgeStep, report = null, fills = null, onTrouble } = this.#options;
    const settings = this.#settings;
    const memory = createLaneMemory(settings);
    const ports = { journal, chain, lease: held, signer, planner, judgeStep, report, fills };
    this.#work = { ...ports, settings, onTrouble, ...memory };
    this.#line.clear();
    this.#room = 0;
    this.#reconciledAtMs = -Infinity;
    this.#isLaneStopped = false;
    return this.#work;
  }

  async #runWhileHeld({ token }: HeldLane, signal: AbortSignal): Promise<void> {
    const { whileHeld, onTrouble } = this.#options;
    while (whileHeld && !signal.aborted) {
      try {
        await whileHeld({ lane: this.lane, token, signal });
        return;
      } catch (error) {
        onTrouble(error);
      }
      await pause(this.#settings.leaseMs / 4, signal);
    }
  }

  async #reconcile(work: LaneWork): Promise<void> {
    if (performance.now() - this.#reconciledAtMs < this.#settings.reconcileMs) return;
    try {
      const wake = (jobId: string): void => {
        if (!work.locked.has(jobId)) this.wake(jobId);
      };
      await reconcileLane(this.#options.journal, { wake }, this.lane);
      if (work.report) await this.#options.journal.trimBook(this.lane);
      work.locked.releaseAll();
      this.#joinUnlocked(work);
      this.#reconciledAtMs = performance.now();
    } catch (error) {
      this.#options.onTrouble(error);
    }
  }

  /** @throws LeaseLostError */
  async #look(work: LaneWork): Promise<void> {
    const { onTrouble } = this.#options;
    try {
      const { wake, ended, troubles, head, lowestNonce } = await confirmLane(work, (id) => this.#line.isActive(id));
      for (const trouble of troubles) onTrouble(trouble);
      work.settings = head.isDelegated ? { ...this.#settings, maxInFlight: 1 } : this.#settings;
      // They take no nonce: a full lane must not keep a signed payment from its answer.
      for (const jobId of [...wake, ...takeSome(work.presented, this.#settings.jobsAtOnce)]) {
        this.#line.joinFirst(jobId);
      }
      for (const jobId of work.retries.takeDue()) this.#line.join(jobId);
      for (const jobId of ended) work.locked.release(jobId);
      this.#joinUnlocked(work);
      const status = await tendLane(work);
      const { unminedSteps, paused, frozen, nextNonce } = status;
      if (nextNonce !== null) work.nextNonce.see(nextNonce);
      const lowest = lowestNonce ?? nextNonce ?? 0;
      const unused = work.gap.look(lowest, head, this.#settings);
      if (unused) onTrouble(unused);
      work.stop = explainStop({ paused, frozen });
      this.#noteLaneStopped(work.stop !== null);
      this.#room = work.wallet.isEmpty ? 0 : work.settings.maxInFlight - unminedSteps - this.#line.newcomers;
      this.#pump();
      await tendGap(work, status, { lowest, head });
      const isFull = this.#room <= 0 && this.#line.hasQueue;
      await tellLane(work, work.stop ?? (isFull ? lackOfRoom(work) : null), 'new');
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      onTrouble(error);
      await tellLane(work, explainError(work.planner, error) ?? null, 'all');
    }
  }

  /** Jobs that found the lane paused or frozen have left the queue. They are queued again as soon as it resumes. */
  #noteLaneStopped(isStopped: boolean): void {
    if (this.#isLaneStopped && !isStopped) this.#reconciledAtMs = -Infinity;
    this.#isLaneStopped = isStopped;
  }

  /** Queues jobs that waited for another job's allowance, and may have it now. */
  #joinUnlocked(work: LaneWork): void {
    for (const jobId of work.locked.takeFree()) this.#line.join(jobId);
  }

  #pump(): void {
    const work = this.#work;
    while (work && this.#active.size < this.#settings.jobsAtOnce) {
      const next = this.#line.next({ hasRoom: this.#room > 0 });
      if (!next) return;
      if (next.isNewcomer) this.#room--;
      this.#carry(work, next.jobId, () => advanceJob(work, next.jobId));
    }
  }

  #carry(work: LaneWork, jobId: string, carry: () => Promise<AdvanceOutcome>): void {
    const advance = this.#advance(work, jobId, carry).finally(() => this.#active.delete(advance));
    this.#active.add(advance);
    void advance.then(() => this.#pump());
  }

  async #advance(work: LaneWork, jobId: string, carry: () => Promise<AdvanceOutcome>): Promise<void> {
    let outcome: AdvanceOutcome | 'failed' = 'failed';
    try {
      outcome = await carry();
    } catch (error) {
      this.#options.onTrouble(error);
    }
    if (work !== this.#work) return;
    const wasNewcomer = this.#line.leave(jobId, outcome);
    work.locked.leave(jobId, outcome);
    if (outcome === 'ended') work.locked.release(jobId);
    this.#joinUnlocked(work);
    if (outcome === 'lane_full') this.#room = 0;
    else if (wasNewcomer && outcome !== 'in_flight') this.#room++;
  }

  /** Waits for running work, but for a limited time: the journal knows the state of each job. */
  async #waitForWork(beside: Promise<void>): Promise<void> {
    const enough = new AbortController();
    const begun = Promise.allSettled([...this.#active, beside]);
    await Promise.race([begun, pause(this.#settings.stopWithinMs, enough.signal)]);
    enough.abort();
  }
}

/** The first of the jobs, which become the last: all have their turn in time, and leave turns to others. */
function takeSome(jobs: Set<string>, count: number): string[] {
  const some = [...jobs].slice(0, count);
  for (const jobId of some) {
    jobs.delete(jobId);
    jobs.add(jobId);
  }
  return some;
}
