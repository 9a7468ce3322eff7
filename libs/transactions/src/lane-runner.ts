import type { Hex } from '@tollgate/protocol';

import { advanceJob, type AdvanceOutcome } from './advance-job.js';
import { confirmLane } from './confirm-lane.js';
import { FlightWatch } from './flight-watch.js';
import type { LaneId } from './job.js';
import { JobLine } from './job-line.js';
import type { Journal } from './journal.js';
import { holdLane, type HeldLane } from './lane-lease.js';
import { DEFAULT_LANE_SETTINGS, type LaneSettings } from './lane-settings.js';
import { LeaseLostError, type LaneWork } from './lane-work.js';
import { pause } from './pause.js';
import type { JobPlanner, JobQueue, LaneSigner, JudgeStep } from './ports.js';
import { reconcileLane } from './reconcile.js';
import type { Chain } from './rpc/chain.js';
import { tendLane } from './tend-lane.js';

export interface LaneRunnerOptions {
  journal: Journal;
  chain: Chain;
  signer: LaneSigner;
  planner: JobPlanner;
  judgeStep: JudgeStep;
  /** Names this process among all that ever ran. */
  owner: string;
  settings?: Partial<LaneSettings>;
  /**
   * Runs beside the lane while this process holds it: takes its wake-ups, hands its events on. `signal` tells when the lane
   * is given back or lost; the lane is not given back before this resolves.
   */
  attend?: (held: { lane: LaneId; token: number; signal: AbortSignal }) => Promise<void>;
  /** What went wrong and is tried again: Redis or the chain not answering, a planner that throws. */
  onTrouble: (error: unknown) => void;
}

/**
 * Works on one lane whenever this process can have its lease: carries jobs on, oldest first, confirms and replaces what is in
 * flight. Several runners for one lane, in any number of processes, take turns.
 */
export class LaneRunner implements JobQueue {
  readonly lane: LaneId;
  readonly #options: LaneRunnerOptions;
  readonly #settings: LaneSettings;
  readonly #line = new JobLine();
  readonly #stop = new AbortController();
  readonly #active = new Set<Promise<void>>();
  #running: Promise<void> | null = null;
  #work: LaneWork | null = null;
  /** How many more jobs may take a nonce, as of the last look. */
  #room = 0;

  constructor(options: LaneRunnerOptions) {
    this.#options = options;
    this.#settings = { ...DEFAULT_LANE_SETTINGS, ...options.settings };
    this.lane = { chainId: options.chain.chainId, address: options.signer.address.toLowerCase() as Hex };
  }

  /** True while this process holds the lane. */
  get isHolding(): boolean {
    return this.#work !== null;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Begins nothing new, lets what was begun end for a while, and gives the lane back. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Looks at a job soon, if this process holds the lane: whoever holds it finds every open job by itself in time. */
  wake(jobId: string): void {
    if (!this.#work) return;
    this.#line.join(jobId);
    this.#pump();
  }

  async #run(): Promise<void> {
    const { journal, owner, onTrouble } = this.#options;
    const { leaseMs } = this.#settings;
    while (!this.#stop.signal.aborted) {
      const over = new AbortController();
      const held = await holdLane(journal, this.lane, { owner, leaseMs, onLost: () => over.abort() }).catch(onTrouble);
      if (held) await this.#hold(held, AbortSignal.any([over.signal, this.#stop.signal]));
      else await pause(leaseMs / 4, this.#stop.signal);
    }
  }

  async #hold(held: HeldLane, over: AbortSignal): Promise<void> {
    const { journal, chain, signer, planner, judgeStep, onTrouble } = this.#options;
    const settings = this.#settings;
    const watch = new FlightWatch();
    const work: LaneWork = { journal, chain, lease: held, signer, planner, judgeStep, settings, watch };
    this.#work = work;
    this.#line.clear();
    this.#room = 0;
    const leaving = new AbortController();
    const signal = AbortSignal.any([over, leaving.signal]);
    const attending = this.#options.attend?.({ lane: this.lane, token: held.token, signal }).catch(onTrouble);
    try {
      let reconciledAtMs = -Infinity;
      while (!over.aborted) {
        if (performance.now() - reconciledAtMs >= settings.reconcileMs) {
          reconciledAtMs = await this.#reconcile(reconciledAtMs);
        }
        await this.#look(work);
        await pause(settings.pollMs, over);
      }
    } catch (error) {
      onTrouble(error);
    } finally {
      this.#work = null;
      this.#line.clear();
      leaving.abort();
      await this.#settle();
      await attending;
      await held.release().catch(onTrouble);
    }
  }

  async #reconcile(previouslyMs: number): Promise<number> {
    try {
      await reconcileLane(this.#options.journal, this, this.lane);
      return performance.now();
    } catch (error) {
      this.#options.onTrouble(error);
      return previouslyMs;
    }
  }

  /** @throws LeaseLostError */
  async #look(work: LaneWork): Promise<void> {
    const { onTrouble } = this.#options;
    try {
      const { wake, hasEnded, troubles } = await confirmLane(work, (jobId) => this.#line.isActive(jobId));
      for (const trouble of troubles) onTrouble(trouble);
      for (const jobId of wake) this.#line.joinFirst(jobId);
      if (hasEnded) this.#line.joinLocked();
      const { unminedSteps } = await tendLane(work);
      this.#room = this.#settings.maxInFlight - unminedSteps - this.#line.newcomers;
      this.#pump();
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      onTrouble(error);
    }
  }

  #pump(): void {
    const work = this.#work;
    while (work && this.#active.size < this.#settings.jobsAtOnce) {
      const next = this.#line.next({ hasRoom: this.#room > 0 });
      if (!next) return;
      if (next.isNewcomer) this.#room--;
      const advance = this.#advance(work, next.jobId).finally(() => this.#active.delete(advance));
      this.#active.add(advance);
      void advance.then(() => this.#pump());
    }
  }

  async #advance(work: LaneWork, jobId: string): Promise<void> {
    let outcome: AdvanceOutcome | 'failed' = 'failed';
    try {
      outcome = await advanceJob(work, jobId);
    } catch (error) {
      this.#options.onTrouble(error);
    }
    if (work !== this.#work) return;
    const wasNewcomer = this.#line.leave(jobId, outcome);
    if (outcome === 'ended') this.#line.joinLocked();
    if (outcome === 'lane_full') this.#room = 0;
    else if (wasNewcomer && outcome !== 'in_flight') this.#room++;
  }

  /** Waits for what was begun, but not for ever: the journal knows where each job stands. */
  async #settle(): Promise<void> {
    const enough = new AbortController();
    await Promise.race([Promise.allSettled(this.#active), pause(this.#settings.stopWithinMs, enough.signal)]);
    enough.abort();
  }
}
