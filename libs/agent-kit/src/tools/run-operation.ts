import { AGENT_KIT_ERRORS, AgentKitError } from '../agent-kit-error.js';
import type { Operation } from '../operations/operation.js';
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
export async function runOperation(
  kit: OperationRunner,
  name: string,
  input: unknown,
  options: RunOptions = {},
): Promise<OperationResult> {
  let isSending = false;
  try {
    const operation = kit.operations().find((candidate) => candidate.name === name);
    if (!operation) throw new AgentKitError('UNKNOWN_OPERATION', 'There is no operation of this name.');
    if (operation.readOnly) return present(nameOutput(operation, await kit.read(name, input)));

    const plan = await kit.plan(name, input);
    if (isAborted(options.signal)) return declined('The request was cancelled; nothing was sent.');
    if (options.confirm && (await options.confirm(plan)) !== true) {
      return declined('The person did not agree; nothing was sent.');
    }
    if (isAborted(options.signal)) return declined('The request was cancelled; nothing was sent.');
    isSending = true;
    return present(await kit.execute(plan));
  } catch (error) {
    if (error instanceof AgentKitError) return describeFailure(error);
    options.onUnexpectedError?.(error);
    return describeUnexpected(isSending);
  }
}

/** Transactions that were signed only, as was wanted, are no success and no failure. */
export function isFailure({ status }: OperationResult): boolean {
  return status !== 'success' && status !== 'signed';
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
