import { ChainUnavailableError } from '@tollgate/chain';
import { keccak256Hex } from '@tollgate/crypto';
import type { QuotedFees, Hex } from '@tollgate/protocol';

import { joinSendAnswers, readSendAnswer, type SendAnswer, type SendReply } from '../chain/read-send-answer.js';
import { crashPoint } from '../crash-point.js';
import type { JobFailure, JobRecord, Attempt, PlannedStep, StepRecord } from '../jobs/job.js';
import type { StepReceipt, TransactionToSign } from '../jobs/ports.js';
import type { MarkBroadcastRequest, StepWrite } from '../jobs/transition.js';
import { flightName } from '../lanes/flight-watch.js';
import { assertLease, writeFor, type LaneWork } from '../lanes/lane-work.js';

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

/** Signs the step's transaction, or the cancel that uses its nonce, again with higher fees; otherwise as `putAttempt`. */
export function putReplacement(
  work: LaneWork,
  job: AttemptRequest['job'],
  { step, nonce, fees }: Pick<AttemptRequest, 'nonce' | 'fees'> & { step: StepRecord },
): Promise<StoredBytes | null> {
  const kind = step.voided ? 'cancel' : 'replacement';
  return putAttempt(work, { job, kind, call: step, nonce, expectedAttempts: step.attempts.length, fees });
}

/** Signs bytes that must be journaled before they are sent. */
export async function signAttempt(work: LaneWork, request: BytesRequest): Promise<StoredBytes> {
  if (request.kind === 'cancel') await estimateCancel(work);
  const raw = await work.signer.sign(createTransaction(work, request));
  crashPoint('F5');
  crashPoint('F12');
  return { kind: request.kind, hash: keccak256Hex(raw), raw };
}

/** A chain that cannot be asked now gets the gas of the last cancel. */
async function estimateCancel({ chain, signer, cancel, onTrouble }: LaneWork): Promise<void> {
  await chain.estimateTransfer(signer.address).then((gas) => (cancel.gas = gas), onTrouble);
}

function createTransaction({ chain, signer, cancel }: LaneWork, request: BytesRequest): TransactionToSign {
  const { call, kind, nonce, fees } = request;
  const { to, data, value, gas } =
    kind === 'cancel' ? { to: signer.address, data: '0x' as const, value: 0n, ...cancel } : call;
  return { chainId: chain.chainId, nonce, to, data, value, gas, ...fees };
}

/**
 * Why a lane is paused whose wallet has too little native coin. It resumes by itself once the node accepts its
 * transactions again.
 */
export const WALLET_IS_EMPTY: JobFailure = {
  code: 'INSUFFICIENT_FUNDS',
  message: 'The wallet does not have enough of the native coin for its next transaction.',
  suggestion: 'Send native coin to the wallet. Its jobs then continue by themselves.',
};

const BYTES_REFUSED: JobFailure = {
  code: 'TRANSACTION_REFUSED',
  message: 'No RPC server accepts the transaction: this chain does not allow its gas, its size or its type.',
  suggestion: 'Compare the gas limit in the plan with the limits of the chain.',
};

/**
 * Sends bytes that are stored in the journal to every RPC server, and acts on the answers. Resolves with the first
 * acceptance, or when all servers have answered.
 */
export async function broadcast(
  work: LaneWork,
  job: Pick<JobRecord, 'id' | 'stepIndex'>,
  { kind, hash, raw }: StoredBytes,
): Promise<SendAnswer> {
  const write = writeFor(work, job);
  const flight = flightName(write);
  work.watch.noteSent(flight, hash);
  work.pace.noteSent();
  const answered = await joinAnswers(work.chain.send(raw), hash);
  crashPoint('F7');
  await applyAnswer(work, write, { kind, hash }, answered);
  return answered.answer;
}

/**
 * Like `broadcast`, and returns the receipt instead if a server waits for it (EIP-7966). The acceptance is then not
 * noted here, because noting the step as mined includes it.
 */
export async function broadcastAndWait(
  work: LaneWork,
  job: Pick<JobRecord, 'id' | 'stepIndex'>,
  { kind, hash, raw }: StoredBytes,
): Promise<StepReceipt | SendAnswer> {
  if (!work.pace.isQuick) return broadcast(work, job, { kind, hash, raw });
  const write = writeFor(work, job);
  work.watch.noteSent(flightName(write), hash);
  const { receipt, sent } = work.chain.sendAndWait(raw, hash);
  const found = await receipt;
  if (found !== null) {
    crashPoint('F7');
    return found;
  }
  work.pace.noteSent();
  const answered = await joinAnswers(sent, hash);
  crashPoint('F7');
  await applyAnswer(work, write, { kind, hash }, answered);
  return answered.answer;
}

async function applyAnswer(
  work: LaneWork,
  write: StepWrite,
  { kind, hash }: Pick<StoredBytes, 'kind' | 'hash'>,
  { answer, replies }: Answered,
): Promise<void> {
  const flight = flightName(write);
  switch (answer) {
    case 'accepted':
      work.watch.noteAccepted(flight);
      work.pace.noteAccepted();
      assertLease(await work.journal.markBroadcast({ ...write, hash }));
      crashPoint('F8');
      break;
    case 'insufficient_funds':
      await pauseEmpty(work);
      break;
    case 'underpriced':
      work.watch.noteUnderpriced(flight);
      break;
    case 'refused':
      await giveUpBytes(work, { ...write, hash }, kind);
      break;
    case 'unknown':
      work.watch.noteNotTaken(flight, explainReplies(replies));
      break;
    case 'nonce_used':
      break;
  }
}

/** Pauses the lane: no new nonces until the wallet can pay. `jobId`: the job whose plan found the wallet empty. */
export async function pauseEmpty({ journal, lease, wallet }: LaneWork, jobId?: string): Promise<void> {
  wallet.note(jobId);
  await journal.pauseLane(lease.lane, WALLET_IS_EMPTY);
}

/**
 * The nonce is taken, so a transfer to the wallet itself must use it. If that is refused as well, an operator has to
 * act.
 */
async function giveUpBytes(
  { journal }: LaneWork,
  write: MarkBroadcastRequest,
  kind: StoredBytes['kind'],
): Promise<void> {
  const failure = BYTES_REFUSED;
  const givesBackSpending = write.stepIndex === 0;
  assertLease(
    kind === 'cancel'
      ? await journal.needOperator({ ...write, failure })
      : await journal.failAttempt({ ...write, failure, givesBackSpending }),
  );
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

/** Why no server has taken the bytes: the first refusal, else why the last gave no answer. */
function explainReplies(replies: readonly SendReply[]): Error {
  const refusal = replies.find((reply) => reply.kind === 'error');
  const silent = replies.findLast((reply) => reply.kind === 'unanswered');
  if (!refusal && silent) return silent.error;
  const words = refusal && { words: refusal.message };
  return new ChainUnavailableError('rpc_error', 'No RPC server takes the transaction now.', words);
}
