import type { Fees } from '@tollgate/chain';
import { keccak256Hex } from '@tollgate/crypto';
import type { Hex } from '@tollgate/protocol';

import { crashPoint } from '../crash-point.js';
import type { Attempt, JobRecord, PlannedStep } from '../jobs/job.js';
import type { TransactionToSign } from '../jobs/ports.js';
import { assertLease, writeFor, type LaneWork } from '../lanes/lane-work.js';

/** The bytes of an attempt as stored in the journal. */
export interface StoredBytes {
  kind: Attempt['kind'];
  hash: Hex;
  raw: Hex;
}

export interface AttemptRequest {
  job: Pick<JobRecord, 'id' | 'stepIndex'>;
  kind: Attempt['kind'];
  /** What the step does; a `cancel` ignores it. */
  call: Pick<PlannedStep, 'to' | 'data' | 'value' | 'gas'>;
  nonce: number;
  /** How many attempts the step already has. */
  expectedAttempts: number;
  fees: Fees;
}

type BytesRequest = Pick<AttemptRequest, 'kind' | 'call' | 'nonce' | 'fees'>;

/**
 * Signs one attempt and writes it into the journal, where it must be stored before it is sent. Null: the journal did
 * not store it, and these bytes are discarded; only stored bytes count.
 */
export async function putAttempt(work: LaneWork, request: AttemptRequest): Promise<StoredBytes | null> {
  const { job, kind, nonce, expectedAttempts, fees } = request;
  const { hash, raw } = await signAttempt(work, request);
  const { outcome } = assertLease(
    await work.journal.putAttempt({
      ...writeFor(work, job),
      expectedAttempts,
      nonce,
      attempt: { kind, hash, raw, ...fees },
    }),
  );
  return outcome === 'refused' ? null : { kind, hash, raw };
}

/** Signs bytes that must be journaled before they are sent. */
export async function signAttempt(work: LaneWork, request: BytesRequest): Promise<StoredBytes> {
  const raw = await work.signer.sign(createTransaction(work, request));
  crashPoint('F5');
  crashPoint('F12');
  return { kind: request.kind, hash: keccak256Hex(raw), raw };
}

function createTransaction({ chain, signer, settings }: LaneWork, request: BytesRequest): TransactionToSign {
  const { call, kind, nonce, fees } = request;
  const { to, data, value, gas } =
    kind === 'cancel' ? { to: signer.address, data: '0x' as const, value: 0n, gas: settings.cancelGas } : call;
  return { chainId: chain.chainId, nonce, to, data, value, gas, ...fees };
}
