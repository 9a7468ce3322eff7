import type { Hex } from '@tollgate/protocol';
import type { ScriptArgument } from '@tollgate/redis';

import { encodeFailure, encodeJson, encodeStep } from '../jobs/encode-job.js';
import type { JobFailure, JsonValue } from '../jobs/job.js';
import { jobKey, laneKey } from '../jobs/keys.js';
import { findReply, readLock, readReserve, readSpending, readTransition } from '../jobs/read-reply.js';
import type * as on from '../jobs/transition.js';
import type { TransitionName } from '../transitions/journal-scripts.js';
import type { TransitionRunner } from '../transitions/transition-runner.js';
import type { LaneRegistry } from './lane-registry.js';

/**
 * A worker's writes about the step it works on. Every call carries the token of the lane's lease, and is refused under
 * an outdated one.
 */
export abstract class StepJournal {
  protected constructor(
    protected readonly runner: TransitionRunner,
    protected readonly lanes: LaneRegistry,
  ) {}

  /** PLANNED, AWAITING_APPROVAL, or RESERVED without an attempt: replaces the steps from the current one on. */
  async putPlan(request: on.PutPlanRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('putPlan', request, listPlan(request)));
  }

  /**
   * `putPlan`, `takeLocks`, `reserveSpending` and, if `maxInFlight` is given, `reserve` in one script. Nothing is
   * done after a refusal, nor after a plan that waits for an approval.
   */
  async beginStep(request: on.BeginStepRequest): Promise<on.BeginStepResult> {
    const { jobId, stepIndex, token, locks = [], spendings = [], maxInFlight } = request;
    const write = [token, stepIndex];
    const calls: [TransitionName, ScriptArgument[]][] = [['putPlan', [...write, ...listPlan(request)]]];
    if (locks.length > 0) calls.push(['takeLocks', [...write, ...locks]]);
    if (spendings.length > 0) calls.push(['reserveSpending', [...write, ...listSpendings(spendings)]]);
    if (maxInFlight !== undefined) calls.push(['reserve', [...write, maxInFlight]]);
    const replies = await this.#chain(jobId, calls);
    const replyTo = findReply(
      calls.map(([name]) => name),
      replies,
    );
    const [lock, spending, reserved] = [replyTo('takeLocks'), replyTo('reserveSpending'), replyTo('reserve')];
    return {
      plan: readTransition(replyTo('putPlan') ?? []),
      lock: lock && readLock(lock),
      spending: spending && readSpending(spending),
      reserved: reserved && readReserve(reserved),
    };
  }

  /** AWAITING_APPROVAL for at least `waitedMs` -> as `reject`. */
  async expireApproval({ waitedMs, failure, ...write }: on.ExpireApprovalRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('expireApproval', write, [waitedMs, encodeFailure(failure)]));
  }

  /**
   * PLANNED: ends the job (according to its `ending` if it has one), or starts to undo it. RESERVED without an attempt:
   * voids the step; an attempt of kind `cancel` must use its nonce.
   */
  async failPlan(request: on.EndRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('failPlan', request, listEnd(request)));
  }

  /** PLANNED -> the next step, or the end: the effect of the step is already there. */
  async skipStep(request: on.StepWrite): Promise<on.Transition> {
    return readTransition(await this.#onStep('skipStep', request));
  }

  /** PLANNED -> RESERVED with the wallet's next nonce; repeated calls return the same nonce. */
  async reserve(request: on.StepWrite & { maxInFlight: number }): Promise<on.ReserveResult> {
    return readReserve(await this.#onStep('reserve', request, [request.maxInFlight]));
  }

  /** RESERVED -> SIGNED with the first attempt; further attempts by compare-and-set on their number. */
  async putAttempt(request: on.PutAttemptRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('putAttempt', request, listAttempt(request)));
  }

  /**
   * SIGNED, and no RPC server will ever accept these bytes: voids the step. An attempt of kind `cancel` must use its
   * nonce before the job ends with the failure. `evenIfSent`: or BROADCAST; whichever attempt is mined decides.
   */
  async failAttempt({ hash, ...request }: on.FailAttemptRequest): Promise<on.Transition> {
    const { failure, givesBackSpending, evenIfSent = false } = request;
    const args = [hash.toLowerCase(), encodeFailure(failure), givesBackSpending ? 1 : 0, evenIfSent ? 1 : 0];
    return readTransition(await this.#onStep('failAttempt', request, args));
  }

  /**
   * SIGNED or BROADCAST, and every RPC server refused the cancel that somebody wanted: the job goes on. Refused where
   * nothing of the job's own could use the nonce.
   */
  async dropCancel({ hash, failure, ...write }: on.DropCancelRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('dropCancel', write, [hash.toLowerCase(), encodeFailure(failure)]));
  }

  /** SIGNED -> BROADCAST; records once per attempt that an RPC server accepted it. */
  async markBroadcast(request: on.MarkBroadcastRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('markBroadcast', request, [request.hash.toLowerCase()]));
  }

  /** SIGNED or BROADCAST -> MINED; repeated if it is found in another block. */
  async markMined(request: on.MarkMinedRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('markMined', request, listMined(request)));
  }

  /** `markMined`, the report to the book and `finishStep` in one script, for a step that was deep enough when first seen. */
  async finishMined(request: on.FinishMinedRequest): Promise<on.Transition> {
    const { jobId, token, stepIndex, mined, undo } = request;
    const { blockHash } = mined;
    const replies = await this.#chain(jobId, [
      ['markMined', [token, stepIndex, ...listMined(request)]],
      ...listReport({ ...request, blockHash }),
      ['finishStep', [token, stepIndex, ...listFinish({ blockHash, undo })]],
    ]);
    return readTransition(lastOf(replies));
  }

  /** MINED -> BROADCAST: the block left the chain. */
  async unmine(request: on.UnmineRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('unmine', request, [request.blockHash.toLowerCase()]));
  }

  /** A fill in flight -> CANCELLED: another transaction has used its nonce. */
  async endFill(request: on.StepWrite & { failure: JobFailure }): Promise<on.Transition> {
    return readTransition(await this.#onStep('endFill', request, [encodeFailure(request.failure)]));
  }

  /**
   * MINED, deep enough, successful -> the next step, or the end. A mined `cancel` ends the job according to its
   * `ending`.
   */
  async finishStep(request: on.FinishStepRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('finishStep', request, listFinish(request)));
  }

  /** MINED, deep enough, failed -> REVERTED, or the first step of `undo`. */
  async failStep(request: on.FailStepRequest): Promise<on.Transition> {
    const { jobId, token, stepIndex, blockHash } = request;
    const replies = await this.#chain(jobId, [
      ...listReport(request),
      ['failStep', [token, stepIndex, blockHash.toLowerCase(), ...listEnd(request)]],
    ]);
    return readTransition(lastOf(replies));
  }

  /** PLANNED -> SIGNED: stores the signature, which may be shown only then. */
  async putSignature({ number, signed, bytes, ...write }: on.PutSignatureRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('putSignature', write, [number, encodeStep(signed), bytes]));
  }

  /** SIGNED -> the next step, or the end: the payment was answered. `isVoid`: SIGNED -> PLANNED, for the next signature. */
  async finishSignature({ number, isVoid, ...write }: on.FinishSignatureRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('finishSignature', write, [number, isVoid ? 1 : 0]));
  }

  /** Any open state -> NEEDS_OPERATOR. */
  async needOperator(request: on.StepWrite & { failure: JobFailure }): Promise<on.Transition> {
    return readTransition(await this.#onStep('needOperator', request, [encodeFailure(request.failure)]));
  }

  /** Notes why an open job stands still. The first time for each code, an event reports it. */
  async noteWaiting({ why, forMs, ...write }: on.NoteWaitingRequest): Promise<on.Transition> {
    const args = why === null ? ['', '', 0] : [encodeFailure(why), why.code, Math.round(forMs)];
    return readTransition(await this.#onStep('noteWaiting', write, args));
  }

  /** The report to the book and `needOperator` in one script, for a step whose block is deep enough. */
  async parkMined(request: on.ParkMinedRequest): Promise<on.Transition> {
    const { jobId, token, stepIndex, failure } = request;
    const replies = await this.#chain(jobId, [
      ...listReport(request),
      ['needOperator', [token, stepIndex, encodeFailure(failure)]],
    ]);
    return readTransition(lastOf(replies));
  }

  /** Writes a detail unless it exists, and returns the stored value; null when the job accepts no details. */
  async putDetail(request: {
    jobId: string;
    token: number;
    name: string;
    value: JsonValue;
  }): Promise<JsonValue | null> {
    const args = [request.token, request.name, encodeJson(request.value)];
    const [outcome, stored = 'null'] = await this.onJob('putDetail', request.jobId, args);
    return outcome === 'done' ? (JSON.parse(stored) as JsonValue) : null;
  }

  /** Counts against the daily limits, all or none; replaces what the job had counted before. */
  async reserveSpending(request: on.StepWrite & { spendings: readonly on.Spending[] }): Promise<on.SpendingResult> {
    return readSpending(await this.#onStep('reserveSpending', request, listSpendings(request.spendings)));
  }

  /** Keeps other jobs from what has these names until the job ends; all or none. */
  async takeLocks({ locks, ...write }: on.StepWrite & { locks: readonly string[] }): Promise<on.LockResult> {
    return readLock(await this.#onStep('takeLocks', write, [...locks]));
  }

  protected async onJob(name: TransitionName, jobId: string, args: ScriptArgument[] = []): Promise<string[]> {
    const [reply] = await this.#chain(jobId, [[name, args]]);
    return reply ?? [];
  }

  #onStep(name: TransitionName, write: on.StepWrite, args: ScriptArgument[] = []): Promise<string[]> {
    return this.onJob(name, write.jobId, [write.token, write.stepIndex, ...args]);
  }

  /** Several transitions in order in one script, up to the first that is refused. */
  async #chain(jobId: string, calls: readonly [TransitionName, ScriptArgument[]][]): Promise<string[][]> {
    const lane = this.lanes.find(jobId) ?? (await this.runner.within(this.lanes.locate(jobId)));
    if (!lane) return [['refused', 'not_found']];
    const job = jobKey(lane, jobId);
    return this.runner.runChain(
      laneKey(lane),
      calls.map(([name, args]) => ({ name, job, args })),
    );
  }
}

/** The reply of the last call that was made: those after a refusal are skipped. */
function lastOf(replies: readonly string[][]): string[] {
  return replies.findLast(([outcome]) => outcome !== undefined && outcome !== 'skipped') ?? [];
}

function listReport({
  report,
  ...write
}: on.StepWrite & on.Reported & { blockHash: Hex }): [TransitionName, ScriptArgument[]][] {
  if (!report) return [];
  const { token, stepIndex, blockHash } = write;
  const args = [token, stepIndex, blockHash.toLowerCase(), report.type, JSON.stringify(report.facts)];
  return [['reportTransaction', args]];
}

export function listAttempt({ expectedAttempts, nonce, attempt }: AttemptWrite): ScriptArgument[] {
  const { kind, hash, maxFeePerGas, maxPriorityFeePerGas, raw } = attempt;
  return [expectedAttempts, nonce, kind, hash.toLowerCase(), `${maxFeePerGas} ${maxPriorityFeePerGas}`, raw];
}

type AttemptWrite = Pick<on.PutAttemptRequest, 'expectedAttempts' | 'nonce' | 'attempt'>;

export function listPlan({ steps, plan, floorsHash, needsApproval }: PlanWrite): ScriptArgument[] {
  return [floorsHash, needsApproval ? 1 : 0, encodeJson(plan), ...steps.map(encodeStep)];
}

type PlanWrite = Pick<on.PutPlanRequest, 'steps' | 'plan' | 'floorsHash' | 'needsApproval'>;

function listMined({ mined: { hash, blockNumber, blockHash } }: on.MarkMinedRequest): ScriptArgument[] {
  return [hash.toLowerCase(), blockNumber, blockHash.toLowerCase()];
}

function listFinish({ blockHash, undo }: Pick<on.FinishStepRequest, 'blockHash' | 'undo'>): ScriptArgument[] {
  return [blockHash.toLowerCase(), ...(undo ?? []).map(encodeStep)];
}

function listEnd({ failure, givesBackSpending, undo = [] }: on.EndRequest): ScriptArgument[] {
  return [encodeFailure(failure), givesBackSpending ? 1 : 0, ...undo.map(encodeStep)];
}

/**
 * The script arguments that count spendings.
 * @throws TypeError when an asset is listed twice or is not a word, or an amount is negative.
 */
function listSpendings(spendings: readonly on.Spending[]): string[] {
  const assets = new Set(spendings.map(({ asset }) => asset.toLowerCase()));
  if (assets.size < spendings.length) throw new TypeError('an asset is listed twice');
  return spendings.flatMap(({ asset, amount, limit }) => {
    if (!/^\w{1,64}$/.test(asset)) throw new TypeError('an asset is an address, or a word');
    if (amount < 0n || (limit !== null && limit < 0n)) throw new TypeError('amounts must not be negative');
    return [asset.toLowerCase(), amount.toString(), limit?.toString() ?? ''];
  });
}
