import { ChainUnavailableError } from '@tollgate/chain';
import { keccak256Hex } from '@tollgate/crypto';
import type { QuotedFees, Hex } from '@tollgate/protocol';

import { joinSendAnswers, readSendAnswer, type SendAnswer, type SendReply } from '../chain/read-send-answer.js';
import { crashPoint } from '../crash-point.js';
import type { JobFailure, JobRecord, Attempt, PlannedStep, StepRecord } from '../jobs/job.js';
import type { StepReceipt, TransactionToSign } from '../jobs/ports.js';
import { flightName } from '../lanes/flight-watch.js';
import { assertLease, writeFor, type LaneWork } from '../lanes/lane-work.js';
import { nextWrite, placeOfBytes } from './step-rules.js';
import { explainError, WALLET_IS_EMPTY } from './wait-reasons.js';

/** The bytes of an attempt as stored in the journal. */
export type StoredBytes = Pick<Attempt, 'kind' | 'hash'> & { raw: Hex };

export interface AttemptRequest {
  job: Pick<JobRecord, 'id' | 'stepIndex'>;
  kind: Attempt['kind'];
  /** What the step does; a `cancel` ignores it. */
  call: Pick<PlannedStep, 'to' | 'data' | 'value' | 'gas'>;
  nonce: number;
  /** How many attempts the step already has. */
  expectedAttempts: number;
  fees: QuotedFees;
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

/**
 * Signs the step's transaction again with other fees, or the cancel that uses its nonce where it is given up; otherwise
 * as `putAttempt`.
 */
export async function putReplacement(
  work: LaneWork,
  job: AttemptRequest['job'],
  step: StepRecord,
  fees: QuotedFees,
): Promise<StoredBytes | null> {
  const { nonce, voided, attempts } = step;
  if (nonce === null) return null;
  const kind = voided ? 'cancel' : 'replacement';
  return putAttempt(work, { job, kind, call: step, nonce, expectedAttempts: attempts.length, fees });
}

/**
 * Sends bytes that were just stored. Null: the journal did not store them. `again`: the job has moved on, read it again.
 */
export async function sendStored(
  work: LaneWork,
  job: JobRecord,
  stored: StoredBytes | null,
): Promise<'again' | 'in_flight' | 'waiting'> {
  // The lane may be waiting for the next look at the chain.
  if (!stored) return (await work.journal.readLane(work.lease.lane)).frozen === null ? 'again' : 'waiting';
  crashPoint('F6');
  return (await broadcast(work, job, stored)) === 'refused' ? 'again' : 'in_flight';
}

/** Signs bytes that must be journaled before they are sent. */
export async function signAttempt(work: LaneWork, request: BytesRequest): Promise<StoredBytes> {
  if (request.kind === 'cancel') await estimateCancel(work);
  const raw = await work.signer.sign(createTransaction(work, request));
  crashPoint('F5');
  crashPoint('F12');
  return { kind: request.kind, hash: keccak256Hex(raw), raw };
}

/** The gas of a cancel. Where the chain cannot be asked now, it is that of the last one. */
export async function estimateCancel({ chain, signer, cancel, onTrouble }: LaneWork): Promise<bigint> {
  await chain.estimateTransfer(signer.address).then((gas) => (cancel.gas = gas), onTrouble);
  return cancel.gas;
}

function createTransaction({ chain, signer, cancel }: LaneWork, request: BytesRequest): TransactionToSign {
  const { call, kind, nonce, fees } = request;
  const { to, data, value, gas } =
    kind === 'cancel' ? { to: signer.address, data: '0x' as const, value: 0n, ...cancel } : call;
  return { chainId: chain.chainId, nonce, to, data, value, gas, ...fees };
}

const BYTES_REFUSED: JobFailure = {
  code: 'TRANSACTION_REFUSED',
  message: 'No RPC server accepts the transaction: this chain does not allow its gas, its size or its type.',
  suggestion: 'Compare the gas limit in the plan with the limits of the chain.',
};

/**
 * Sends bytes that are stored in the journal to every RPC server, and acts on the answers. Resolves with the first
 * acceptance, or when all servers have answered.
 */
export async function broadcast(work: LaneWork, job: JobRecord, bytes: StoredBytes): Promise<SendAnswer> {
  work.watch.noteSent(flightName(writeFor(work, job)), bytes.hash);
  work.pace.noteSent();
  return applyAnswers(work, job, bytes, work.chain.send(bytes.raw));
}

/**
 * Like `broadcast`, and returns the receipt instead if a server waits for it (EIP-7966). The acceptance is then not
 * noted here, because noting the step as mined includes it.
 */
export async function broadcastAndWait(
  work: LaneWork,
  job: JobRecord,
  bytes: StoredBytes,
): Promise<StepReceipt | SendAnswer> {
  if (!work.pace.isQuick) return broadcast(work, job, bytes);
  work.watch.noteSent(flightName(writeFor(work, job)), bytes.hash);
  const { receipt, sent } = work.chain.sendAndWait(bytes.raw, bytes.hash);
  const found = await receipt;
  if (found !== null) {
    crashPoint('F7');
    return found;
  }
  work.pace.noteSent();
  return applyAnswers(work, job, bytes, sent);
}

async function applyAnswers(
  work: LaneWork,
  job: JobRecord,
  { kind, hash }: StoredBytes,
  sent: readonly Promise<SendReply>[],
): Promise<SendAnswer> {
  const { answer, replies } = await joinAnswers(sent, hash);
  crashPoint('F7');
  const write = { ...writeFor(work, job), hash };
  noteAnswer(work, flightName(write), answer, replies);
  switch (nextWrite(answer, placeOfBytes(job, { kind }))) {
    case 'markBroadcast':
      assertLease(await work.journal.markBroadcast(write));
      crashPoint('F8');
      break;
    case 'pauseLane':
      await pauseEmpty(work);
      break;
    case 'failAttempt': {
      // The nonce is taken, so a transfer to the wallet itself must use it.
      const givesBackSpending = write.stepIndex === 0;
      assertLease(await work.journal.failAttempt({ ...write, failure: BYTES_REFUSED, givesBackSpending }));
      break;
    }
    case 'dropCancel':
      assertLease(await work.journal.dropCancel({ ...write, failure: refuseCancel(work, replies) }));
      break;
    case 'putOff':
      work.retries.putOff(job.id);
      break;
    case 'wait':
      break;
  }
  return answer;
}

/** What this process remembers of an answer, to say why the step waits and when to look again. */
function noteAnswer(
  { watch, pace }: LaneWork,
  flight: string,
  answer: SendAnswer,
  replies: readonly SendReply[],
): void {
  if (answer === 'accepted') {
    watch.noteAccepted(flight);
    pace.noteAccepted();
  } else if (answer === 'underpriced') {
    watch.noteUnderpriced(flight);
  } else if (answer === 'unknown' || answer === 'refused') {
    watch.noteNotTaken(flight, explainReplies(replies));
  }
}

/** Pauses the lane: no new nonces until the wallet can pay. `jobId`: the job whose plan found the wallet empty. */
export async function pauseEmpty({ journal, lease, wallet }: LaneWork, jobId?: string): Promise<void> {
  wallet.note(jobId);
  await journal.pauseLane(lease.lane, WALLET_IS_EMPTY);
}

interface Answered {
  answer: SendAnswer;
  replies: readonly SendReply[];
}

function joinAnswers(sent: readonly Promise<SendReply>[], hash: Hex): Promise<Answered> {
  const read = (reply: SendReply): SendAnswer => readSendAnswer(reply, hash);
  return new Promise((resolve) => {
    for (const one of sent)
      void one.then((reply) => read(reply) === 'accepted' && resolve({ answer: 'accepted', replies: [reply] }));
    void Promise.all(sent).then((replies) => resolve({ answer: joinSendAnswers(replies.map(read)), replies }));
  });
}

function refuseCancel({ planner }: LaneWork, replies: readonly SendReply[]): JobFailure {
  const why = explainError(planner, explainReplies(replies));
  return {
    code: 'CANCEL_REFUSED',
    message: `The cancel was refused, and the job goes on. ${why?.message ?? ''}`.trim(),
    suggestion: 'Cancel the job again, speed it up, or wait until it is mined.',
  };
}

/** Why no server has taken the bytes: the first refusal, else why the last gave no answer. */
function explainReplies(replies: readonly SendReply[]): Error {
  const refusal = replies.find((reply) => reply.kind === 'error');
  const silent = replies.findLast((reply) => reply.kind === 'unanswered');
  if (!refusal && silent) return silent.error;
  const words = refusal && { words: refusal.message };
  return new ChainUnavailableError('rpc_error', 'No RPC server takes the transaction now.', words);
}
