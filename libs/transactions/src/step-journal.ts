import { encodeFailure, encodeJson, encodeStep } from './encode-job.js';
import type { JobFailure, JsonValue } from './job.js';
import type { TransitionName } from './journal-scripts.js';
import { jobKey, laneKey } from './keys.js';
import type { LaneRegistry } from './lane-registry.js';
import { findReply, readLock, readReserve, readSpending, readTransition } from './read-reply.js';
import type { ScriptArgument, ScriptRunner } from './script-runner.js';
import { listSpendings, nameScope } from './spending.js';
import type * as on from './transition.js';

/** What a worker writes about the step that it works on. Every call names the lane's lease, and is refused under an old one. */
export abstract class StepJournal {
  protected constructor(
    protected readonly runner: ScriptRunner,
    protected readonly lanes: LaneRegistry,
  ) {}

  /** PLANNED, AWAITING_APPROVAL, or RESERVED without an attempt: the steps from the current one on are replaced. */
  async putPlan(request: on.PutPlanRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('putPlan', request, listPlan(request)));
  }

  /**
   * `putPlan`, `lockApprovals`, `reserveSpending` and, where `maxInFlight` is given, `reserve` in one step. What follows a
   * refusal is not done, nor what follows a plan that waits for somebody's agreement.
   */
  async beginStep(request: on.BeginStepRequest): Promise<on.BeginStepResult> {
    const { jobId, stepIndex, token, approvals = [], spendings = [], maxInFlight } = request;
    const write = [token, stepIndex];
    const calls: [TransitionName, ScriptArgument[]][] = [['putPlan', [...write, ...listPlan(request)]]];
    if (approvals.length > 0) calls.push(['lockApprovals', [...write, ...approvals.map(nameScope)]]);
    if (spendings.length > 0) calls.push(['reserveSpending', [...write, ...listSpendings(spendings)]]);
    if (maxInFlight !== undefined) calls.push(['reserve', [...write, maxInFlight]]);
    const replies = await this.#chain(jobId, calls);
    const replyTo = findReply(
      calls.map(([name]) => name),
      replies,
    );
    const [lock, spending, reserved] = [replyTo('lockApprovals'), replyTo('reserveSpending'), replyTo('reserve')];
    return {
      plan: readTransition(replyTo('putPlan') ?? []),
      lock: lock && readLock(lock),
      spending: spending && readSpending(spending),
      reserved: reserved && readReserve(reserved),
    };
  }

  /** AWAITING_APPROVAL for so long -> as `reject`. */
  async expireApproval({ waitedMs, failure, ...write }: on.ExpireApprovalRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('expireApproval', write, [waitedMs, encodeFailure(failure)]));
  }

  /**
   * PLANNED: ends the job, as its ending says where it has one, or begins to undo it. RESERVED without an attempt: the
   * step is voided, and its nonce must be used by an attempt of kind `cancel`.
   */
  async failPlan(request: on.EndRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('failPlan', request, listEnd(request)));
  }

  /** PLANNED -> the next step, or the end: what the step would do is done already. */
  async skipStep(request: on.StepWrite): Promise<on.Transition> {
    return readTransition(await this.#onStep('skipStep', request));
  }

  /** PLANNED -> RESERVED with the wallet's next nonce; afterwards always that nonce. */
  async reserve(request: on.StepWrite & { maxInFlight: number }): Promise<on.ReserveResult> {
    return readReserve(await this.#onStep('reserve', request, [request.maxInFlight]));
  }

  /** RESERVED -> SIGNED with the first attempt; further ones by compare-and-set on their number. */
  async putAttempt(request: on.PutAttemptRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('putAttempt', request, listAttempt(request)));
  }

  /**
   * SIGNED, and no RPC ever takes these bytes: the step is voided, and an attempt of kind `cancel` must use its nonce
   * before the job ends with the failure.
   */
  async failAttempt({ hash, ...request }: on.FailAttemptRequest): Promise<on.Transition> {
    const args = [hash.toLowerCase(), encodeFailure(request.failure), request.givesBackSpending ? 1 : 0];
    return readTransition(await this.#onStep('failAttempt', request, args));
  }

  /** SIGNED -> BROADCAST; notes for each attempt once that an RPC took it. */
  async markBroadcast(request: on.MarkBroadcastRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('markBroadcast', request, [request.hash.toLowerCase()]));
  }

  /** SIGNED or BROADCAST -> MINED; again when it is found in another block. */
  async markMined(request: on.MarkMinedRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('markMined', request, listMined(request)));
  }

  /** `markMined` and `finishStep` in one step, for what was deep enough when it was seen. */
  async finishMined(request: on.FinishMinedRequest): Promise<on.Transition> {
    const { jobId, token, stepIndex, mined, undo } = request;
    const [marked = [], finished = []] = await this.#chain(jobId, [
      ['markMined', [token, stepIndex, ...listMined(request)]],
      ['finishStep', [token, stepIndex, ...listFinish({ blockHash: mined.blockHash, undo })]],
    ]);
    return readTransition(finished[0] === 'skipped' || finished.length === 0 ? marked : finished);
  }

  /** MINED -> BROADCAST: that block left the chain. */
  async unmine(request: on.UnmineRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('unmine', request, [request.blockHash.toLowerCase()]));
  }

  /** MINED, deep enough, successful -> the next step, or the end. A mined `cancel` ends the job as its ending says. */
  async finishStep(request: on.FinishStepRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('finishStep', request, listFinish(request)));
  }

  /** MINED, deep enough, failed -> REVERTED, or the first step of `undo`. */
  async failStep(request: on.FailStepRequest): Promise<on.Transition> {
    const args = [request.blockHash.toLowerCase(), ...listEnd(request)];
    return readTransition(await this.#onStep('failStep', request, args));
  }

  /** Any open state -> NEEDS_OPERATOR. */
  async needOperator(request: on.StepWrite & { failure: JobFailure }): Promise<on.Transition> {
    return readTransition(await this.#onStep('needOperator', request, [encodeFailure(request.failure)]));
  }

  /** Writes a detail unless it is there, and answers what is stored; null when the job takes none. */
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

  /** Counts against the day's limits, all or none; replaces what the job had counted before. */
  async reserveSpending(request: on.StepWrite & { spendings: readonly on.Spending[] }): Promise<on.SpendingResult> {
    return readSpending(await this.#onStep('reserveSpending', request, listSpendings(request.spendings)));
  }

  /** Keeps other jobs from these allowances until the job ends; all or none. */
  async lockApprovals(request: on.StepWrite & { scopes: readonly on.ApprovalScope[] }): Promise<on.LockResult> {
    return readLock(await this.#onStep('lockApprovals', request, request.scopes.map(nameScope)));
  }

  protected async onJob(name: TransitionName, jobId: string, args: ScriptArgument[] = []): Promise<string[]> {
    const [reply] = await this.#chain(jobId, [[name, args]]);
    return reply ?? [];
  }

  #onStep(name: TransitionName, write: on.StepWrite, args: ScriptArgument[] = []): Promise<string[]> {
    return this.onJob(name, write.jobId, [write.token, write.stepIndex, ...args]);
  }

  /** One transition after the other in one step, up to the first that is refused. */
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
