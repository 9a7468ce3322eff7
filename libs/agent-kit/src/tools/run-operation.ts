import { AGENT_KIT_ERRORS, AgentKitError } from '../agent-kit-error.js';
import type { Operation } from '../operations/operation.js';
import type { Plan } from '../plan/plan.js';
import type { OperationRunner, ToolOptions } from './operation-runner.js';
import { toSafeJson, type JsonValue } from './safe-json.js';

/** What a model gets. `success` is the only good status (specification, section "ToolResult"). */
export interface OperationResult {
  [field: string]: JsonValue;
  status: string;
}

export interface RunOptions extends Pick<ToolOptions, 'confirm' | 'onUnexpectedError'> {
  /** Aborted before the first transaction, nothing is sent; from then on the operation runs to its end. */
  signal?: AbortSignal;
}

/**
 * Runs one operation for a model, and never throws: what fails comes back as `{status, error, code, suggestion}`. Reads
 * give `{status: 'success', ...output}`, with a list under a name of its own. Writes are planned, confirmed and sent as
 * that very plan; one that is not confirmed gives `{status: 'declined', …}`.
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

/** Has a plan confirmed, where `confirm` is given, and sends it. `noteSending` is called just before. */
export async function sendPlan(
  kit: OperationRunner,
  plan: Plan,
  { signal, confirm }: RunOptions,
  noteSending: () => void,
): Promise<object> {
  if (isAborted(signal)) return declined('The request was cancelled; nothing was sent.');
  if (confirm && (await confirm(plan)) !== true) return declined('The person did not agree; nothing was sent.');
  if (isAborted(signal)) return declined('The request was cancelled; nothing was sent.');
  noteSending();
  return kit.execute(plan);
}

/** What some work gives, or why it failed, as a result for a model. The work says when it begins to send. */
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

// What was only signed or planned, as was wanted, or is not mined yet, is no success and no failure.
const NO_FAILURES: readonly string[] = ['success', 'signed', 'planned', 'pending'];

export function isFailure({ status }: OperationResult): boolean {
  return !NO_FAILURES.includes(status);
}

/** Nothing was sent, because nobody agreed to it. */
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
  // A result that does not say how it went is no success.
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
      ? 'Look at the latest transactions of the account before trying again.'
      : 'Try again; if it stays, look at the logs of the program.',
  };
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
