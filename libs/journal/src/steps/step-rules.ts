import { isFinal, isSigned, lastAttempt, NONCE_FILLED, type Attempt, type JobRecord } from '../jobs/job.js';
import { currentStep } from '../lanes/lane-work.js';

/** Where a job stands with its current step. */
export const PLACES = [
  /** The plan waits for an approval. */
  'approval',
  /** The step has no nonce, and is planned again before it gets one. */
  'unplanned',
  /** Like `unplanned`, and the plan is fixed: the step revokes what the job left behind. */
  'undoing',
  /** The job ends without another transaction, unless something must be revoked. */
  'giving_up',
  /** The step has its nonce, and nothing is signed. */
  'reserved',
  /** Signed bytes are stored, and no RPC server is known to have accepted any. */
  'signed',
  /** An RPC server has accepted bytes of the step. */
  'sent',
  /** The step is given up, and no cancel is signed that uses its nonce. */
  'void',
  /** A cancel is signed because somebody cancelled the job, whose own transaction may still be mined. */
  'cancelling',
  /** A cancel is signed, and it or its successor has to use the nonce. */
  'using_up',
  'mined',
  /** The step is a payment by signature, which is signed. */
  'presented',
  /** It waits for an operator. */
  'parked',
  'ended',
] as const;

export type JobPlace = (typeof PLACES)[number];

/**
 * What is done about a job at each place after each fact; where nothing is listed, nothing is written, and the job waits.
 * Writes with the name of a transition are that transition of the journal.
 */
export const STEP_RULES = {
  // The job was read, and nothing else is known.
  read: {
    approval: 'expireApproval',
    unplanned: 'beginStep',
    undoing: 'reserve',
    giving_up: 'failPlan',
    reserved: 'beginStep',
    signed: 'send',
    void: 'putCancel',
    cancelling: 'send',
    using_up: 'send',
    presented: 'present',
    ended: 'leave',
  },
  // It has waited too long for the fees that it offers, or an operator wants it sped up.
  too_slow: {
    signed: 'putReplacement',
    sent: 'putReplacement',
    void: 'putCancel',
    cancelling: 'putReplacement',
    using_up: 'putReplacement',
  },

  // What came of the plan. With a nonce taken a job must not wait: every later transaction of the wallet waits for it.
  unplannable: { unplanned: 'failPlan', reserved: 'failPlan' },
  floors_changed: { reserved: 'failPlan' },
  lock_held: { reserved: 'failPlan' },
  over_limit: { unplanned: 'failPlan', reserved: 'failPlan' },
  effect_is_there: { unplanned: 'skipStep', reserved: 'putFirst' },
  planned: { unplanned: 'reserve', undoing: 'reserve', reserved: 'putFirst' },
  signs: { unplanned: 'putSignature' },

  // What the RPC servers answered to the bytes. A wallet that cannot pay stops its lane; a refusal by all servers ends
  // only what no server has ever accepted.
  accepted: {
    signed: 'markBroadcast',
    sent: 'markBroadcast',
    cancelling: 'markBroadcast',
    using_up: 'markBroadcast',
  },
  insufficient_funds: { signed: 'pauseLane', sent: 'pauseLane', cancelling: 'pauseLane', using_up: 'pauseLane' },
  refused: { signed: 'failAttempt', cancelling: 'dropCancel', using_up: 'putOff' },
  // The bytes are sent again, or signed with higher fees, or their receipt is looked for.
  unknown: {},
  underpriced: {},
  nonce_used: {},

  // What the chain shows. `void`: bytes that were signed before the step was given up.
  mined: {
    signed: 'markMined',
    sent: 'markMined',
    void: 'markMined',
    cancelling: 'markMined',
    using_up: 'markMined',
    mined: 'markMined',
  },
  succeeded: {
    signed: 'finishMined',
    sent: 'finishMined',
    void: 'finishMined',
    cancelling: 'finishMined',
    using_up: 'finishMined',
    mined: 'finishMined',
  },
  failed: { mined: 'failStep' },
  mined_in_doubt: { mined: 'parkMined' },
  reorganized: { mined: 'unmine' },
  nonce_is_used: {
    reserved: 'needOperator',
    signed: 'needOperator',
    sent: 'needOperator',
    void: 'needOperator',
    cancelling: 'needOperator',
    using_up: 'needOperator',
  },

  // What came of a payment by signature.
  paid: { presented: 'finishSignature' },
  unpaid: { presented: 'finishSignature' },
  paid_in_doubt: { presented: 'needOperator' },
} as const satisfies Record<string, Partial<Record<JobPlace, string>>>;

export type StepFact = keyof typeof STEP_RULES;
/** What may follow from a fact. */
export type NextWrite<F extends StepFact> = F extends StepFact
  ? (typeof STEP_RULES)[F][keyof (typeof STEP_RULES)[F]] | 'wait'
  : never;

export function nextWrite<F extends StepFact>(fact: F, place: JobPlace): NextWrite<F> {
  const row: Partial<Record<JobPlace, string>> = STEP_RULES[fact];
  // Safe to cast: the row is that of the fact.
  return (row[place] ?? 'wait') as NextWrite<F>;
}

export function placeOf(job: JobRecord): JobPlace {
  const { state, ending } = job;
  if (isFinal(state)) return 'ended';
  if (state === 'NEEDS_OPERATOR') return 'parked';
  if (state === 'AWAITING_APPROVAL') return 'approval';
  const step = currentStep(job);
  if (isSigned(step)) return 'presented';
  if (state === 'PLANNED') return ending ? (ending.undoing ? 'undoing' : 'giving_up') : 'unplanned';
  if (state === 'MINED') return 'mined';
  const last = step ? lastAttempt(step) : undefined;
  if (step?.voided) return last?.kind === 'cancel' ? placeOfBytes(job, last) : 'void';
  return last ? placeOfBytes(job, last) : 'reserved';
}

/** Where a job stands whose bytes have just been stored, or are sent again. */
export function placeOfBytes(job: JobRecord, { kind }: Pick<Attempt, 'kind'>): JobPlace {
  if (kind !== 'cancel') return job.state === 'BROADCAST' ? 'sent' : 'signed';
  const { ending } = job;
  const attempts = currentStep(job)?.attempts ?? [];
  const hasOwn = attempts.some((attempt) => attempt.kind !== 'cancel');
  const isTaken = attempts.some((attempt) => attempt.kind === 'cancel' && attempt.sentAtMs !== null);
  // A nonce that an operator has filled must be used, and not by the job.
  const isWish = ending?.state === 'CANCELLED' && !ending.undoing && ending.failure.code !== NONCE_FILLED;
  return isWish && hasOwn && !isTaken ? 'cancelling' : 'using_up';
}
