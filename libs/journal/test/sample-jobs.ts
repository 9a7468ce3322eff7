import { randomBytes } from 'node:crypto';

import { createPermit2Transfer, type Hex, type PaymentToSign } from '@tollgate/protocol';
import type { Redis } from 'ioredis';

import type { JobFailure, LaneId, PlannedStep } from '../src/jobs/job.js';
import { createLaneId, eventsKey, jobKey } from '../src/jobs/keys.js';
import type { PutAttemptRequest, StepWrite, SubmitRequest } from '../src/jobs/transition.js';
import type { Journal } from '../src/store/journal.js';

// Sample data for tests; the values have no meaning.

export const FAILURE: JobFailure = { code: 'SLIPPAGE', message: 'The price moved.', suggestion: 'Try again.' };

export const sampleHash = (): Hex => `0x${randomBytes(32).toString('hex')}`;

export const sampleLane = (): LaneId => createLaneId(1328, `0x${randomBytes(20).toString('hex')}`);

export const sampleStep = (label = 'Swap 1 USDC for WSEI'): PlannedStep => ({
  label,
  to: `0x${'ab'.repeat(20)}`,
  data: '0x',
  value: 2n ** 200n,
  gas: 90_000n,
});

/** A payment of each kind, for the payer to sign. */
export function samplePayment(from: Hex): { [Kind in 'authorization' | 'permit2']: PaymentToSign & { kind: Kind } } {
  const asset: Hex = `0x${'a5'.repeat(20)}`;
  const payTo: Hex = `0x${'b6'.repeat(20)}`;
  const [nonce, amount] = [sampleHash(), '1000'];
  const [validAfter, validBefore] = ['1700000000', '1900000000'];
  const terms = { from, payTo, asset, amount, maxTimeoutSeconds: 60, nonce };
  return {
    authorization: {
      kind: 'authorization',
      token: { asset, name: 'USDC', version: '2' },
      authorization: { from, to: payTo, value: amount, validAfter, validBefore, nonce },
    },
    permit2: { kind: 'permit2', ...createPermit2Transfer(terms, null) },
  };
}

/** A step that is a signed payment. */
export const sampleSignature = (from: Hex): PlannedStep & Required<Pick<PlannedStep, 'signs'>> => ({
  label: 'Pay 0.001 USDC',
  to: `0x${'a5'.repeat(20)}`,
  data: '0x',
  value: 0n,
  gas: 0n,
  signs: samplePayment(from).authorization,
});

export function sampleRequest(lane: LaneId, changes: Partial<SubmitRequest> = {}): SubmitRequest {
  return {
    lane,
    operation: 'swap',
    input: { amount: '1', nested: { empty: [], tiny: 1e-18 } },
    wallet: 'main',
    keyId: 'key-1',
    idempotencyKey: randomBytes(8).toString('hex'),
    fingerprint: 'print',
    ...changes,
  };
}

export function sampleAttempt(kind: 'first' | 'replacement' | 'cancel' = 'first'): PutAttemptRequest['attempt'] {
  return { kind, hash: sampleHash(), raw: `0x02${'cd'.repeat(120)}`, maxFeePerGas: 10n, maxPriorityFeePerGas: 1n };
}

/** Accepts a job and returns the fields that a worker passes with each write on its first step. */
export async function submitSample(
  journal: Journal,
  lane: LaneId,
  token: number,
  changes: Partial<SubmitRequest> = {},
): Promise<StepWrite> {
  const result = await journal.submit(sampleRequest(lane, changes));
  if (result.outcome !== 'accepted') throw new Error(`the job was not accepted: ${JSON.stringify(result)}`);
  return { jobId: result.jobId, stepIndex: 0, token };
}

/** Advances the current step to MINED and returns its block's hash. */
export async function mineSample(journal: Journal, write: StepWrite, kind: 'first' | 'cancel' = 'first'): Promise<Hex> {
  const reserved = await journal.reserve({ ...write, maxInFlight: 1000 });
  if (reserved.outcome === 'refused') throw new Error(`no nonce: ${reserved.reason}`);
  const [attempt, blockHash] = [sampleAttempt(kind), sampleHash()];
  await journal.putAttempt({ ...write, expectedAttempts: 0, nonce: reserved.nonce, attempt });
  await journal.markBroadcast({ ...write, hash: attempt.hash });
  await journal.markMined({ ...write, mined: { hash: attempt.hash, blockNumber: 1, blockHash } });
  return blockHash;
}

/** Advances a job of one step to FINAL. */
export async function finishSample(journal: Journal, write: StepWrite): Promise<void> {
  await planSample(journal, write);
  await journal.finishStep({ ...write, blockHash: await mineSample(journal, write) });
}

/** Plans a job with one step per label. */
export async function planSample(
  journal: Journal,
  write: StepWrite,
  labels: readonly string[] = ['swap'],
): Promise<void> {
  const steps = labels.map((label) => sampleStep(label));
  await journal.putPlan({ ...write, steps, plan: { preview: 'p' }, floorsHash: 'f', needsApproval: false });
}

/** Changes a job's record so that it cannot be read. Returns what changes it back. */
export async function spoilJob(redis: Redis, lane: LaneId, jobId: string): Promise<() => Promise<unknown>> {
  const key = jobKey(lane, jobId);
  const state = await redis.hget(key, 'state');
  if (state === null) throw new Error(`there is no job ${jobId}`);
  await redis.hset(key, 'state', 'spoilt');
  return () => redis.hset(key, 'state', state);
}

/** Adds events that cannot be read, as a later release or damage may leave them. */
export async function spoilEvents(redis: Redis, lane: LaneId, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const [last] = await redis.xrevrange(eventsKey(lane), '+', '-', 'COUNT', 1);
    await redis.xadd(eventsKey(lane), `${Number.parseInt(last?.[0] ?? '0', 10) + 1}-0`, 'event', 'somethingElse');
  }
}
