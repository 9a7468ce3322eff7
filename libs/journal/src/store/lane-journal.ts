import { BOOK_GROUP, laneBookKey, type ActedFacts } from '@tollgate/book-events';
import { type ScriptArgument, trimAcknowledged } from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

import { encodeFailure, encodeJson, encodeStep } from '../jobs/encode-job.js';
import { NONCE_FILLED, type JobFailure, type LaneId } from '../jobs/job.js';
import { createJobId, FILL, jobKey, laneKey, nameLane, openKey, spentKey } from '../jobs/keys.js';
import { readFill, readLaneTransition, readRelease } from '../jobs/read-reply.js';
import type * as on from '../jobs/transition.js';
import type { TransitionName } from '../transitions/journal-scripts.js';
import type { TransitionRunner } from '../transitions/transition-runner.js';
import { type LaneRegistry, readInFlightSteps, readLaneFields, readLaneStatus } from './lane-registry.js';
import { StepJournal } from './step-journal.js';
import { encodeBook, type SubmitTerms } from './submit-job.js';

export const DAY_MS = 86_400_000;

const IN_DOUBT: JobFailure = {
  code: 'JOURNAL_LOST_WRITES',
  message:
    'Redis lost writes, and the wallet has sent transactions that the journal does not know. This job may be one of them.',
  suggestion: "Compare the job with the wallet's latest transactions, then resume or abandon it.",
};

const FILLED: JobFailure = {
  code: NONCE_FILLED,
  message:
    'The transaction was not on the chain, and its nonce was filled by a transfer of nothing to the wallet itself.',
  suggestion: 'What the transaction should do was not done. If it is still wanted, submit it again.',
};

/** The transitions of a lane itself, and what is read of it. */
export abstract class LaneJournal extends StepJournal {
  protected constructor(
    protected readonly redis: Redis | Cluster,
    runner: TransitionRunner,
    lanes: LaneRegistry,
    private readonly bookLimit: SubmitTerms['bookLimit'],
  ) {
    super(runner, lanes);
  }

  /**
   * Initialises a lane's nonce counter from the chain's pending nonce. Called again on a frozen or paused lane, it
   * moves the counter up to the chain's, and open jobs that may have been sent wait for an operator.
   * @throws StoreError for a lane of another fleet
   */
  async adopt(lane: LaneId, { pendingNonce }: { pendingNonce: number }): Promise<on.LaneTransition> {
    assertNonce(pendingNonce);
    await this.runner.within(this.lanes.register(lane).then(() => this.runner.guard(lane)));
    return this.#onLane('adopt', lane, [pendingNonce, encodeFailure(IN_DOUBT)]);
  }

  /**
   * Unfreezes a lane, provided the chain's pending nonce is not above the counter. Where writes were lost, `too_early`
   * until another reading finds the same nonce so many blocks and milliseconds later: what was sent may not show yet.
   */
  async thaw(
    lane: LaneId,
    { pendingNonce, blockNumber, run }: on.ChainReading,
    { nonceDoubtBlocks, nonceDoubtMs }: on.BetweenReadings,
  ): Promise<on.LaneTransition> {
    assertNonce(pendingNonce);
    return this.#onLane('thaw', lane, [pendingNonce, run, blockNumber, nonceDoubtBlocks, nonceDoubtMs]);
  }

  /**
   * Removes the account from this fleet: deletes its counter, its ended jobs and their events, after which any fleet
   * may adopt it from the chain's nonce. Refused while a process works on the lane or any of its jobs has not ended.
   * `isTrial`: only checks.
   */
  async release(lane: LaneId, { isTrial = false } = {}): Promise<on.ReleaseResult> {
    const args = [this.lanes.fleet, isTrial ? '' : '1'];
    const result = readRelease(await this.runner.run('releaseLane', laneKey(lane), null, args));
    if (!isTrial && result.outcome !== 'refused') await this.runner.within(this.lanes.strike(lane));
    return result;
  }

  /**
   * Gives out no new nonce until the lane is resumed. Steps in flight continue. Any other reason replaces that of an
   * empty wallet, which ends by itself; otherwise the first reason stays.
   */
  pauseLane(lane: LaneId, why: JobFailure): Promise<on.LaneTransition> {
    return this.#onLane('pauseLane', lane, [encodeFailure(why)]);
  }

  /** `code`: ends only a pause with this code. */
  resumeLane(lane: LaneId, { code = '' } = {}): Promise<on.LaneTransition> {
    return this.#onLane('resumeLane', lane, [code]);
  }

  /** Notes a gap, with the job that had its nonce; null: there is none. @param token of the lane's lease */
  noteGap(lane: LaneId, { token, nonce }: { token: number; nonce: number | null }): Promise<on.LaneTransition> {
    return this.#onLane('noteGap', lane, [token, nonce ?? '']);
  }

  /**
   * Fills a gap: cancels the parked job that has the nonce, or writes a job of one step with it that can only be a
   * `cancel`. `unchanged`: it is being filled.
   */
  async fillNonce({ lane, nonce, wallet, keyId, hadBy, mostPerHour }: on.FillRequest): Promise<on.FillResult> {
    assertNonce(nonce);
    const label = `Use nonce ${nonce} by a transfer of 0 to the wallet itself`;
    const step = encodeStep({ label, to: lane.address, data: '0x', value: 0n, gas: 21_000n });
    const body = encodeJson({ input: { nonce, hadBy }, wallet });
    const how = [FILL, keyId, body, step, encodeFailure(FILLED), encodeAct({ lane, nonce, wallet, keyId })];
    const args = [nonce, hadBy ?? '-', mostPerHour ?? '', ...how];
    return readFill(await this.runner.run('fillNonce', laneKey(lane), jobKey(lane, createJobId(lane)), args));
  }

  /**
   * Takes a free or expired lease under a new token; its current owner gets the running one again. Null: another owner
   * has it.
   */
  async takeLease(lane: LaneId, owner: string, leaseMs: number): Promise<on.LaneLease | null> {
    const book = typeof this.bookLimit === 'number' ? 'on' : encodeBook(this.bookLimit);
    return readLease(lane, owner, await this.runner.run('takeLease', laneKey(lane), null, [owner, leaseMs, book]));
  }

  /** Null: another owner has it now. */
  async renewLease({ lane, owner, token }: on.LaneLease, leaseMs: number): Promise<on.LaneLease | null> {
    return readLease(lane, owner, await this.runner.run('renewLease', laneKey(lane), null, [owner, token, leaseMs]));
  }

  async releaseLease({ lane, owner, token }: on.LaneLease): Promise<void> {
    await this.runner.run('releaseLease', laneKey(lane), null, [owner, token]);
  }

  /** Trims what the bookkeeper has acknowledged of a lane's transactions, and returns how many are left. */
  trimBook(lane: LaneId): Promise<number> {
    return this.runner.within(trimAcknowledged(this.redis, laneBookKey(nameLane(lane)), BOOK_GROUP));
  }

  /** How many events of these lanes' transactions wait for the bookkeeper: the most of any of them. */
  async readBookLength(lanes: readonly LaneId[]): Promise<number> {
    const lengths = lanes.map((lane) => this.redis.xlen(laneBookKey(nameLane(lane))));
    return Math.max(0, ...(await this.runner.within(Promise.all(lengths))));
  }

  readLane(lane: LaneId): Promise<on.LaneStatus> {
    return this.runner.within(readLaneStatus(this.redis, lane));
  }

  /** `readLane` without what other keys hold, which a gateway that takes no jobs may not read. */
  readLaneFields(lane: LaneId): Promise<on.LaneFields> {
    return this.runner.within(readLaneFields(this.redis, lane));
  }

  /** What the jobs of a lane spend today, UTC, of the assets with a daily limit: base units by asset. */
  readSpentToday(lane: LaneId): Promise<Record<string, string>> {
    return this.runner.within(this.redis.hgetall(spentKey(lane, Math.floor(Date.now() / DAY_MS))));
  }

  /** Those of these lanes that another fleet has adopted, which this fleet therefore cannot use. */
  async findForeign(lanes: readonly LaneId[]): Promise<LaneId[]> {
    const statuses = await Promise.all(lanes.map((lane) => this.readLane(lane)));
    return statuses.flatMap(({ lane, fleet }) => (fleet === null || fleet === this.lanes.fleet ? [] : [lane]));
  }

  /** Every adopted lane of the fleet. */
  readLanes(): Promise<LaneId[]> {
    return this.runner.within(this.lanes.read());
  }

  /** Ids of the jobs that have not ended and do not wait for an operator, oldest first. */
  readOpenJobs(lane: LaneId): Promise<string[]> {
    return this.runner.within(this.redis.zrange(openKey(lane), '0', '-1'));
  }

  /** Steps with a nonce that have not ended, by nonce. */
  readInFlight(lane: LaneId): Promise<on.InFlightStep[]> {
    return this.runner.within(readInFlightSteps(this.redis, lane));
  }

  async #onLane(name: TransitionName, lane: LaneId, args: ScriptArgument[] = []): Promise<on.LaneTransition> {
    return readLaneTransition(await this.runner.run(name, laneKey(lane), null, args));
  }
}

/** What the audit table says of a fill; '' where the operator API has said it. */
function encodeAct({ lane, nonce, wallet, keyId }: Omit<on.FillRequest, 'hadBy' | 'mostPerHour'>): string {
  if (keyId !== 'worker' && keyId !== 'console') return '';
  const details = { lane: nameLane(lane), nonce };
  return JSON.stringify({ keyId, action: 'wallet.fill', subject: wallet, details } satisfies ActedFacts);
}

function readLease(lane: LaneId, owner: string, [outcome, token, until]: readonly string[]): on.LaneLease | null {
  return outcome === 'done' ? { lane, owner, token: Number(token), untilMs: Number(until) } : null;
}

function assertNonce(nonce: number): void {
  if (!Number.isSafeInteger(nonce) || nonce < 0) throw new TypeError(`${nonce} is not a nonce`);
}
