import {
  isAddress,
  isBaseUnits,
  isHash,
  isHexData,
  parsePaymentToSign,
  WAITING_CODES,
  type Hex,
} from '@tollgate/protocol';
import { StoreError } from '@tollgate/redis';

import {
  isFinal,
  JOB_STATES,
  type Attempt,
  type Ending,
  type JobFailure,
  type JobRecord,
  type JobState,
  type JsonValue,
  type LaneId,
  type MinedAttempt,
  type PlannedStep,
  type StepRecord,
  type StepSignature,
  type JobWait,
} from './job.js';

type Fields = Readonly<Record<string, string>>;
type JsonObject = Readonly<Record<string, JsonValue | undefined>>;

/** The journal has this job, but its fields are not in the form that the journal writes. It may still send. */
export class UnreadableJobError extends StoreError {
  constructor(
    readonly jobId: string,
    /** The API key that submitted it; null when that is not known either. */
    readonly keyId: string | null,
    options: ErrorOptions,
  ) {
    super('journal_unreadable', `Job ${jobId} cannot be read.`, 'Look at its hash in Redis.', options);
  }
}

/**
 * Parses a job from the fields of its hash; null when there are none.
 * @throws UnreadableJobError
 */
export function parseJob(lane: LaneId, id: string, fields: Fields): JobRecord | null {
  if (Object.keys(fields).length === 0) return null;
  try {
    return readJob(lane, id, fields);
  } catch (cause) {
    throw new UnreadableJobError(id, fields['keyId'] ?? null, { cause });
  }
}

function readJob(lane: LaneId, id: string, fields: Fields): JobRecord {
  const body = asObject(JSON.parse(text(fields, 'body')));
  const count = integer(text(fields, 'steps'));
  const state = parseState(text(fields, 'state'));
  const { input, wallet, retryOf } = body;
  return {
    id,
    lane,
    operation: text(fields, 'operation'),
    input: input ?? null,
    wallet: asText(wallet),
    keyId: text(fields, 'keyId'),
    fingerprint: text(fields, 'fingerprint'),
    submittedAtMs: integer(text(fields, 'submittedAt')),
    updatedAtMs: integer(text(fields, 'at')),
    retryOf: retryOf === undefined ? null : asText(retryOf),
    state,
    // Nothing changes it afterwards.
    endedAtMs: isFinal(state) ? integer(text(fields, 'at')) : null,
    stepIndex: integer(text(fields, 'step')),
    steps: Array.from({ length: count }, (_, index) => readStep(fields, index)),
    plan: fields['plan'] === undefined ? null : (JSON.parse(fields['plan']) as JsonValue),
    approval:
      fields['needsApproval'] === '1'
        ? {
            floorsHash: text(fields, 'floorsHash'),
            approvedBy: fields['approvedHash'] === fields['floorsHash'] ? text(fields, 'approvedBy') : null,
          }
        : null,
    ending: readEnding(fields),
    failure: fields['failure'] === undefined ? null : parseFailure(fields['failure']),
    cancelRefused: fields['cancelRefused'] === undefined ? null : parseFailure(fields['cancelRefused']),
    waiting: readWaiting(fields),
    details: readDetails(fields),
  };
}

function readStep(fields: Fields, index: number): StepRecord {
  const nonce = fields[`nonce:${index}`];
  const count = integer(fields[`attempts:${index}`] ?? '0');
  const attempts = Array.from({ length: count }, (_, attempt) => parseAttempt(fields, `${index}:${attempt}`));
  return {
    ...parseStep(text(fields, `step:${index}`)),
    nonce: nonce === undefined ? null : integer(nonce),
    attempts,
    signature: parseSignature(fields[`signature:${index}`]),
    mined: parseMined(fields[`mined:${index}`], attempts),
    ...(count > 0 && fields[`hurried:${index}`] === String(count) && { isHurried: true }),
    skipped: fields[`skipped:${index}`] === '1',
    voided: fields[`void:${index}`] === '1',
  };
}

function parseStep(line: string): PlannedStep {
  const { label, to, data, value, gas, holdsIf, signs, failures } = asObject(JSON.parse(line));
  return {
    label: asText(label),
    to: asAddress(to),
    data: asHex(data),
    value: asAmount(value),
    gas: asAmount(gas),
    ...(holdsIf !== undefined && { holdsIf }),
    ...(signs !== undefined && { signs: parsePaymentToSign(signs) }),
    ...(failures !== undefined && { failures }),
  };
}

function parseAttempt(fields: Fields, place: string): Attempt {
  const [kind, hash, maxFee, maxPriorityFee, signedAt] = text(fields, `attempt:${place}`).split(' ');
  const [raw, sentAt] = [fields[`raw:${place}`], fields[`sent:${place}`]];
  if (kind !== 'first' && kind !== 'replacement' && kind !== 'cancel') throw new TypeError('unknown kind of attempt');
  return {
    kind,
    hash: asHash(hash),
    raw: raw === undefined ? null : asHex(raw),
    maxFeePerGas: asAmount(maxFee),
    maxPriorityFeePerGas: asAmount(maxPriorityFee),
    signedAtMs: integer(signedAt),
    sentAtMs: sentAt === undefined ? null : integer(sentAt),
  };
}

function parseSignature(line: string | undefined): StepSignature | null {
  if (line === undefined) return null;
  const [number, signedAt, bytes] = line.split(' ');
  return { number: integer(number), signedAtMs: integer(signedAt), bytes: bytes === '-' ? null : asHex(bytes) };
}

function parseMined(line: string | undefined, attempts: readonly Attempt[]): MinedAttempt | null {
  if (line === undefined) return null;
  const [index, blockNumber, blockHash] = line.split(' ');
  return {
    hash: asHash(attempts[integer(index)]?.hash),
    blockNumber: integer(blockNumber),
    blockHash: asHash(blockHash),
  };
}

function readEnding(fields: Fields): Ending | null {
  const state = fields['endingState'];
  if (state === undefined) return null;
  if (state === 'FINAL') return { state, failure: null, undoing: true };
  if (state !== 'CANCELLED' && state !== 'PLAN_FAILED' && state !== 'REVERTED' && state !== 'REJECTED') {
    throw new TypeError('unknown ending');
  }
  return { state, failure: parseFailure(text(fields, 'endingFailure')), undoing: fields['undoing'] === '1' };
}

/** The state and step for which it was noted, since when, the code, and the failure. */
const WAITING = /^(\w+ \d+) (\d+) (\w+) (.*)$/s;

function readWaiting(fields: Fields): JobWait | null {
  const [, place, sinceMs, known, failure = ''] = WAITING.exec(fields['waiting'] ?? '') ?? [];
  const code = WAITING_CODES.find((one) => one === known);
  if (!code || place !== `${text(fields, 'state')} ${text(fields, 'step')}`) return null;
  return { ...parseFailure(failure), code, sinceMs: integer(sinceMs) };
}

function readDetails(fields: Fields): Record<string, JsonValue> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      name.startsWith('detail:') ? [[name.slice(7), JSON.parse(value) as JsonValue]] : [],
    ),
  );
}

/** Parses a stored failure. */
export function parseFailure(line: string): JobFailure {
  const { code, message, suggestion } = asObject(JSON.parse(line));
  return { code: asText(code), message: asText(message), suggestion: asText(suggestion) };
}

/** Parses a job's state. */
export function parseState(state: string | undefined): JobState {
  const found = JOB_STATES.find((one) => one === state);
  if (!found) throw new TypeError('unknown state');
  return found;
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  if (value === undefined) throw new TypeError(`${name} is missing`);
  return value;
}

function integer(value: string | undefined): number {
  if (!/^\d{1,16}$/.test(value ?? '')) throw new TypeError('expected an integer');
  return Number(value);
}

function asObject(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('expected an object');
  return value as JsonObject;
}

function asText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('expected text');
  return value;
}

function asAmount(value: unknown): bigint {
  if (!isBaseUnits(value)) throw new TypeError('expected an amount');
  return BigInt(value);
}

function asAddress(value: unknown): Hex {
  if (!isAddress(value)) throw new TypeError('expected an address');
  return value;
}

function asHash(value: unknown): Hex {
  if (!isHash(value)) throw new TypeError('expected a hash');
  return value;
}

function asHex(value: unknown): Hex {
  if (!isHexData(value)) throw new TypeError('expected bytes');
  return value;
}
