import { WRITE_OPERATIONS } from '@tollgate/agent-kit/operations';
import { AGENT_OPERATIONS, isRecord, type AgentJobRequest, type AgentOperation } from '@tollgate/protocol';

import { listFields } from './job-inputs.js';

const FIELDS = ['operation', 'wallet', 'input'];
const OPERATIONS: readonly string[] = AGENT_OPERATIONS;
const MAX_PROBLEMS = 50;

/** Values that only the worker sets. A request that contains one of these is mistaken about the API. */
const SET_BY_THE_WORKER = new Set(
  [
    ...[
      'nonce',
      'from',
      'account',
      'sender',
      'chainId',
      'type',
      'data',
      'calldata',
      'value',
      'accessList',
      'signature',
    ],
    ...['gas', 'gasLimit', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'deadline'],
    ...['raw', 'rawTx', 'rawTransaction', 'signedTransaction', 'serializedTransaction', 'tx', 'transaction'],
  ].map((name) => name.toLowerCase()),
);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Parses a job as its submitter requests it. Numbers written as text become numbers, so that equal requests have equal
 * fingerprints.
 * @throws JobRequestError with every problem
 */
export function parseJobRequest(body: unknown): AgentJobRequest {
  if (!isRecord(body)) {
    throw new JobRequestError(['the body must be a JSON object with operation, wallet and input']);
  }
  const [operation, wallet, given] = FIELDS.map((name) => ownValue(body, name));
  const problems = listUnknown(body, FIELDS, '', 'a job');
  if (!isOperation(operation)) problems.push(`operation must be one of ${OPERATIONS.join(', ')}`);
  if (!isWalletName(wallet)) problems.push("wallet must be a wallet's name: 1 to 64 letters, digits or ._-");
  if (!isRecord(given)) problems.push('input must be a JSON object');
  const input = isOperation(operation) && isRecord(given) ? readInput(operation, given, problems) : {};
  if (problems.length > 0 || !isOperation(operation) || !isWalletName(wallet)) throw new JobRequestError(cut(problems));
  return { operation, wallet, input };
}

/** Copies each known field once, so that the validated value is the one that is passed on. */
function readInput(operation: AgentOperation, given: Fields, problems: string[]): Fields {
  const fields = listFields(operation);
  const names = fields.map(({ name }) => name);
  problems.push(...listUnknown(given, names, 'input.', operation));

  const values = fields.map(({ name, isOptional }) => [name, ownValue(given, name) ?? (isOptional ? undefined : null)]);
  const known = Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Fields;
  const { data, error } = WRITE_OPERATIONS[operation].input.safeParse(known);
  if (data !== undefined) return data;
  const wrong = new Set(error.issues.map(({ path }) => path[0]));
  for (const { name, must, isOptional } of fields) {
    if (wrong.has(name)) problems.push(`input.${name} must ${must}${isOptional ? '; it may be omitted' : ''}`);
  }
  return {};
}

function listUnknown(given: Fields, known: readonly string[], path: string, what: string): string[] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) =>
      SET_BY_THE_WORKER.has(name.toLowerCase())
        ? `${path}${name} must be omitted: the worker sets it`
        : `${path}${show(name)} is not a field of ${what}${known.length > 0 ? `, which has ${known.join(', ')}` : ''}`,
    );
}

/** Own data properties only: nothing inherited, and no getter is called. */
function ownValue(fields: Fields, name: string): unknown {
  return Object.getOwnPropertyDescriptor(fields, name)?.value;
}

function cut(problems: readonly string[]): readonly string[] {
  const excess = problems.length - MAX_PROBLEMS;
  return excess <= 0 ? problems : [...problems.slice(0, MAX_PROBLEMS), `and ${excess} more problems`];
}

function show(name: string): string {
  const isPlain = /^[\w.-]{1,40}$/.test(name);
  return isPlain ? name : JSON.stringify(name.slice(0, 40).replace(/[^\x20-\x7e]/g, '?'));
}

function isOperation(value: unknown): value is AgentOperation {
  return typeof value === 'string' && OPERATIONS.includes(value);
}

/** In the form in which the journal stores it. */
function isWalletName(value: unknown): value is string {
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value);
}

/** An invalid job request. Nothing was stored or sent for it. */
export class JobRequestError extends Error {
  override readonly name = 'JobRequestError';
  readonly code = 'request_invalid';

  /** @param problems each names its field, such as `input.amount`, and never contains the value */
  constructor(readonly problems: readonly string[]) {
    super(`The job request is invalid: ${problems.join('; ')}.`);
  }
}
