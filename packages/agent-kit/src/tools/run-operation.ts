import type { Operation } from '../operations/define/operation.js';
import type { Toolset } from '../operations/toolsets.js';
import { AGENT_KIT_ERRORS, AgentKitError } from '../types/agent-kit-error.js';
import type { Plan } from '../types/plan.js';
import { toSafeJson, type SafeJson } from './safe-json.js';

/** The part of a kit that the tools need; an `AgentKit` is one. */
export interface OperationRunner {
  operations(): readonly Operation[];
  /** Whether the policy allows a write operation at all; without it every one is offered. */
  allows?(name: string): boolean;
  /** @throws AgentKitError */
  read(name: string, input: unknown): Promise<unknown>;
  /** Simulated and checked against the policy; nothing is sent. @throws AgentKitError */
  plan(name: string, input: unknown, options?: { lifetimeMs?: number }): Promise<Plan>;
  /** Sends exactly the plan. Throws AgentKitError if nothing was sent, and returns a result once something was. */
  execute(plan: Plan): Promise<{ status: string }>;
}

/** The options of every adapter. */
export interface ToolOptions {
  /** Called with the simulated plan before anything is sent; nothing is sent unless it returns `true`. */
  confirm?: (plan: Plan) => boolean | Promise<boolean>;
  /** Leaves out every tool that sends transactions. */
  readOnly?: boolean;
  /** Offers only the tools of these; default all. The fewer there are, the better a model chooses. */
  toolsets?: readonly Toolset[];
  /**
   * `show` adds a tool `plan<Operation>` for each write, which sends nothing; `execute` also adds `executePlan`, which
   * sends a plan of such a tool. Have a person approve each call of `executePlan`; if calls are approved automatically,
   * every plan of the model is sent. Default `none`, for neither.
   */
  plans?: 'none' | 'show' | 'execute';
  /** Called with errors that are not an `AgentKitError`; the model only sees that something unexpected happened. */
  onUnexpectedError?: (error: unknown) => void;
}

/** The result for a model. `success` is the only good status (specification, section "ToolResult"). */
export interface OperationResult {
  [field: string]: SafeJson;
  status: string;
}

export interface RunOptions extends Pick<ToolOptions, 'confirm' | 'onUnexpectedError'> {
  /** Aborted before the first transaction, nothing is sent; after that the operation runs to its end. */
  signal?: AbortSignal;
}

/**
 * Runs one operation for a model, and never throws: failures are returned as `{status, error, code, suggestion}`. Reads
 * return `{status: 'success', ...output}`, with a list under a name of its own. Writes are planned, confirmed and sent
 * as exactly that plan; without a confirmation they return `{status: 'declined', …}`.
 */
export function runOperation(
  kit: OperationRunner,
  name: string,
  input: unknown,
  options: RunOptions = {},
): Promise<OperationResult> {
  return answer(options, async (noteSending) => {
    const operation = kit.operations().find((candidate) => candidate.name === name);
    if (!operation) throw new AgentKitError('UNKNOWN_OPERATION', 'There is no operation of this name.');
    if (operation.readOnly) return nameOutput(operation, await kit.read(name, input));
    return sendPlan(kit, await kit.plan(name, input), options, noteSending);
  });
}

/** Has a plan confirmed, if `confirm` is given, and sends it. `noteSending` is called just before. */
export async function sendPlan(
  kit: OperationRunner,
  plan: Plan,
  { signal, confirm }: RunOptions,
  noteSending: () => void,
): Promise<object> {
  if (signal?.aborted) return declined('The request was cancelled; nothing was sent.');
  if (confirm && (await confirm(plan)) !== true) return declined('The plan was not approved; nothing was sent.');
  if (signal?.aborted) return declined('The request was cancelled; nothing was sent.');
  noteSending();
  return kit.execute(plan);
}

/** The result of some work for a model, or its failure. The work reports when it starts to send. */
export async function answer(
  { onUnexpectedError }: RunOptions,
  work: (noteSending: () => void) => Promise<object>,
): Promise<OperationResult> {
  let isSending = false;
  try {
    return present(await work(() => (isSending = true)));
  } catch (error) {
    if (error instanceof AgentKitError) return describeFailure(error);
    onUnexpectedError?.(error);
    return describeUnexpected(isSending);
  }
}

// A plan, a signature, or a transaction that is not mined yet is neither a success nor a failure.
const NO_FAILURES: readonly string[] = ['success', 'signed', 'planned', 'pending'];

export function isFailure({ status }: OperationResult): boolean {
  return !NO_FAILURES.includes(status);
}

/** Nothing was sent, because the plan was not confirmed. */
export function declined(error: string, suggestion: string = AGENT_KIT_ERRORS.DECLINED.suggestion): OperationResult {
  return { status: 'declined', error, code: 'DECLINED', suggestion };
}

/** The field that holds a list: `perpsGetProducts` -> `products`, `listTokens` -> `tokens`. */
export function nameListField(operationName: string): string {
  const noun = /(?:[gG]et|[lL]ist)([A-Z]\w*)$/.exec(operationName)?.[1];
  return noun === undefined ? 'items' : noun.charAt(0).toLowerCase() + noun.slice(1);
}

function nameOutput({ name }: Operation, output: unknown): object {
  if (Array.isArray(output)) return { status: 'success', [nameListField(name)]: output };
  if (typeof output === 'object' && output !== null) return { status: 'success', ...output };
  return { status: 'success', value: output };
}

function present(result: object): OperationResult {
  const json = toSafeJson(result);
  // A result without a status does not count as a success.
  return { ...json, status: typeof json['status'] === 'string' ? json['status'] : 'failed' };
}

function describeFailure({ message, code, suggestion }: AgentKitError): OperationResult {
  return present({ status: 'failed', error: message, code, suggestion });
}

function describeUnexpected(isSending: boolean): OperationResult {
  return {
    status: 'failed',
    error: isSending
      ? 'Something unexpected happened while sending; transactions may be on the chain.'
      : 'Something unexpected happened; nothing was sent.',
    code: 'UNEXPECTED',
    suggestion: isSending
      ? 'Check the latest transactions of the account before trying again.'
      : 'Try again; if it happens again, read the logs of the program.',
  };
}
