import type { ScriptArgument } from '@tollgate/redis';

import { encodeJson } from '../jobs/encode-job.js';
import type { JobState } from '../jobs/job.js';
import {
  codeOfLane,
  createJobId,
  hashIdempotencyKey,
  idempotencyKey,
  jobKey,
  laneKey,
  readLaneCode,
} from '../jobs/keys.js';
import { parseState } from '../jobs/parse-job.js';
import { findReply, readReserve, readTransition } from '../jobs/read-reply.js';
import type {
  SubmitNamedRequest,
  SubmitRefusal,
  SubmitRequest,
  SubmitResult,
  LaunchRequest,
  LaunchResult,
} from '../jobs/transition.js';
import type { TransitionName } from '../transitions/journal-scripts.js';
import type { TransitionRunner } from '../transitions/transition-runner.js';
import { listAttempt, listPlan } from './step-journal.js';

/** The shortest time an idempotency key is remembered: 7 days. */
const IDEMPOTENCY_MS = 7 * 86_400_000;

export interface SubmitTerms {
  maxOpenJobs: number;
  /** How many transactions of the lane may wait for the bookkeeper; null: there is none. */
  bookLimit: number | null | undefined;
}

/**
 * Accepts a job once per idempotency key. The key is claimed first, across all wallets; then the lane, which decides,
 * writes the job. A crash in between leaves a claimed id, and the next request with the key writes that job.
 */
export async function submitJob(
  runner: TransitionRunner,
  request: SubmitRequest,
  { maxOpenJobs, bookLimit }: SubmitTerms,
): Promise<SubmitResult> {
  const { lane, operation, input, wallet, keyId, fingerprint, retryOf } = request;
  assertWord(operation, 'operation');
  assertWord(wallet, 'wallet');
  assertWord(keyId, 'keyId');
  assertWord(fingerprint, 'fingerprint');
  if (request.idempotencyKey === '' || request.idempotencyKey.length > 255) {
    throw new TypeError('idempotencyKey must be 1 to 255 characters');
  }
  const body = encodeJson({ input, wallet, ...(retryOf !== undefined && { retryOf }) });
  const hashed = hashIdempotencyKey(keyId, request.idempotencyKey);

  // Before the key is claimed: an adoption ends what was claimed before it.
  if (!(await runner.isAdopted(laneKey(lane)))) return { outcome: 'refused', reason: 'not_adopted' };
  const proposed = createJobId(lane);
  const claim = await runner.claimKey(idempotencyKey(hashed), [proposed, fingerprint, IDEMPOTENCY_MS]);
  const [jobId = '', claimedFor, claimedAtMs = '0'] = claim;
  // If the wallet's name refers to another account by now, the job belongs to the old account's lane.
  if (claimedFor !== fingerprint || readLaneCode(jobId) !== codeOfLane(lane)) return { outcome: 'conflict' };
  const reply = await runner.run('submit', laneKey(lane), jobKey(lane, jobId), [
    hashed,
    fingerprint,
    claimedAtMs,
    maxOpenJobs,
    operation,
    keyId,
    body,
    '',
    encodeBook(bookLimit),
    jobId === proposed ? 1 : 0,
    // Several keys may share a wallet; a program's own jobs, which have their ids from it, are all of one.
    1,
  ]);
  return readSubmit(reply);
}

/**
 * Accepts a job under an id chosen by its submitter; a repeated call returns the same job. No idempotency key is
 * claimed, so it costs one round trip.
 */
export async function submitNamedJob(
  runner: TransitionRunner,
  request: SubmitNamedRequest,
  terms: SubmitTerms,
): Promise<SubmitResult> {
  const { lane, jobId } = request;
  return readSubmit(await runner.run('submit', laneKey(lane), jobKey(lane, jobId), listNamed(request, terms)));
}

/** The arguments of `submit` for a job that already has its id. */
function listNamed(
  { lane, jobId, operation, input, wallet, keyId, latestMs }: SubmitNamedRequest,
  { maxOpenJobs, bookLimit }: SubmitTerms,
): ScriptArgument[] {
  assertWord(operation, 'operation');
  assertWord(wallet, 'wallet');
  assertWord(keyId, 'keyId');
  if (readLaneCode(jobId) !== codeOfLane(lane))
    throw new TypeError("jobId must be made by createJobId for the job's lane");
  const latest = latestMs === undefined ? '' : Math.floor(latestMs);
  const body = encodeJson({ input, wallet });
  return [jobId, 'named', '', maxOpenJobs, operation, keyId, body, latest, encodeBook(bookLimit)];
}

/** What the scripts compare: a number, `off`, or '' if the process does not say. */
export function encodeBook(bookLimit: SubmitTerms['bookLimit']): ScriptArgument {
  return bookLimit === null ? 'off' : (bookLimit ?? '');
}

const REFUSALS = ['lane_full', 'outbox_full', 'settings_differ', 'late'] as const satisfies readonly SubmitRefusal[];

function readSubmit([outcome, detail = '', state]: readonly string[]): SubmitResult {
  switch (outcome) {
    case 'accepted':
    case 'known':
      return { outcome, jobId: detail, state: parseState(state) satisfies JobState };
    case 'refused':
      return { outcome, reason: REFUSALS.find((reason) => reason === detail) ?? 'not_adopted' };
    case 'conflict':
      return { outcome };
    default:
      return { outcome: 'forgotten' };
  }
}

function assertWord(word: string, name: string): void {
  if (!/^[\w.-]{1,64}$/.test(word)) throw new TypeError(`${name} must be 1 to 64 letters, digits or ._-`);
}

/**
 * `submit`, `putPlan`, `reserve` and `putAttempt` of a job's first step in one write. Transitions after a refusal are
 * not made; those before it stand, and the job continues from there like any other.
 */
export async function launchNamedJob(
  runner: TransitionRunner,
  request: LaunchRequest,
  terms: SubmitTerms,
): Promise<LaunchResult> {
  const { lane, jobId, token, maxInFlight, nonce, attempt } = request;
  const write = [token, 0];
  const calls: [TransitionName, ScriptArgument[]][] = [
    ['submit', listNamed(request, terms)],
    ['putPlan', [...write, ...listPlan({ ...request, needsApproval: false })]],
    ['reserve', [...write, maxInFlight]],
    ['putAttempt', [...write, ...listAttempt({ expectedAttempts: 0, nonce, attempt })]],
  ];
  const job = jobKey(lane, jobId);
  const chain = calls.map(([name, args]) => ({ name, job, args }));
  const replyTo = findReply(
    calls.map(([name]) => name),
    await runner.runChain(laneKey(lane), chain),
  );
  const [reserved, stored] = [replyTo('reserve'), replyTo('putAttempt')];
  return {
    submitted: readSubmit(replyTo('submit') ?? []),
    reserved: reserved && readReserve(reserved),
    stored: stored && readTransition(stored),
  };
}
