import { JOB_ABANDONED } from '@tollgate/agent-jobs';
import { crashPoint } from '@tollgate/journal';
import type { CloseResult } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import { beginOf, closeForRefund, findBooked, findLost, isOwn, reportPaid } from './close-for-refund.js';
import * as details from './details.js';
import { hasPaidAnother } from './judge-transaction.js';
import type { RefundPorts, RefundWallet } from './ports.js';
import { previewRefund } from './preview.js';
import { describeInput, hasFailed, isSameTransfer, minedTransaction, nameRefundJob } from './refund-job.js';
import { ENDED_STATES, WORK_STATES, type Refund, type RefundState } from './refund.js';
import { changeRefund, takeTransaction } from './write-refunds.js';

/** The outbox is read to its end at once; where much is behind, the refund waits for its next turn. */
export const READ_WITHIN_MS = 2_000;
/** A job that the journal has not accepted by then may have been deleted from it since: a person looks at it. */
const ACCEPTED_WITHIN_MS = 3 * 86_400_000;

/**
 * What is done with a refund, from top to bottom, and in which state of it. Each step may be repeated, after a crash and by
 * two callers. What comes after a failure a person decides: see `Refunds`.
 */
const STEPS: readonly (readonly [RefundState, Step])[] = [
  ['asked', closePayment],
  ['closed', findWallet],
  ['closed', recognisePaid],
  ['closed', followEarlierWallet],
  ['closed', closeAgain],
  ['closed', waitForBook],
  ['closed', lookAgain],
  ['closed', writeJob],
  ['sending', watchJob],
  ['sending', bookRefund],
];

type Step = (turn: Turn) => Promise<Outcome>;

type Change = Parameters<typeof changeRefund>[3];

type Outcome =
  /** Nothing is to be done here. */
  | 'next'
  /** It goes on at another time, when something has happened elsewhere. */
  | 'later'
  /** The next step goes on with what is changed. */
  | { change: Change }
  /** As before, and the step has written it. */
  | { changed: Refund }
  /** It goes on at another time; why is shown. */
  | { wait: string }
  /** `maybeSent`: its job may be sent in spite of that. */
  | { fail: string; maybeSent: boolean };

/**
 * Takes a refund as far as it goes now, and returns it.
 * @throws ChainUnavailableError, StoreError, BookUnavailableError, DeposedError: the step may have been made, and is repeated
 */
export async function advanceRefund(ports: RefundPorts, refund: Refund): Promise<Refund> {
  const turn = new Turn(ports, refund);
  for (const [state, step] of STEPS) {
    if (turn.refund.state !== state) continue;
    const outcome = await step(turn);
    if (outcome === 'next') continue;
    const changed = outcome === 'later' ? null : await write(turn, outcome);
    // Null also where another caller has changed it meanwhile.
    if (changed === null) return turn.refund;
    turn.refund = changed;
    if (typeof outcome === 'object' && 'wait' in outcome) return changed;
  }
  return turn.refund;
}

/** A refund on its way through the steps. */
class Turn {
  #wallet: Promise<RefundWallet | null> | null = null;
  #closed: Promise<CloseResult> | null = null;

  constructor(
    readonly ports: RefundPorts,
    public refund: Refund,
  ) {}

  findWallet(): Promise<RefundWallet | null> {
    return (this.#wallet ??= this.ports.findWallet());
  }

  /** The only job that may send this attempt, and its wallet, once there is one. */
  async nameJob(): Promise<{ wallet: RefundWallet; jobId: string }> {
    const wallet = await this.findWallet();
    if (wallet === null) throw new Error(this.noWallet);
    return { wallet, jobId: nameRefundJob(wallet.lane, { refund: this.refund.id, attempt: this.refund.attempt }) };
  }

  get noWallet(): string {
    return details.describeNoWallet(this.ports.settings.walletName);
  }

  closeAgain(): Promise<CloseResult> {
    return (this.#closed ??= closeForRefund(this.ports, this.refund));
  }
}

async function write(turn: Turn, outcome: Exclude<Outcome, string>): Promise<Refund | null> {
  const { refund, ports } = turn;
  if ('changed' in outcome) return outcome.changed;
  if ('wait' in outcome && refund.detail === outcome.wait) return null;
  return changeRefund(ports.book, refund, [refund.state], await toChange(turn, outcome));
}

async function toChange(turn: Turn, outcome: Exclude<Outcome, string | { changed: Refund }>): Promise<Change> {
  if ('change' in outcome) return outcome.change;
  if ('wait' in outcome) return { detail: outcome.wait };
  const { fail: detail, maybeSent } = outcome;
  // A job that is there all the same is found by its name.
  const named = turn.refund.state === 'closed' ? { job: (await turn.nameJob()).jobId } : {};
  return { state: 'failed', detail, ...named, ...(maybeSent && { maybeSent }) };
}

/** From then on it buys nothing. One that cannot be closed was not touched: the refund is refused. */
async function closePayment({ ports, refund }: Turn): Promise<Outcome> {
  const refuse = (detail: string): Outcome => ({ change: { state: 'refused', detail } });
  crashPoint('R1');
  const closed = await closeForRefund(ports, refund);
  crashPoint('R2');
  switch (closed.outcome) {
    case 'closed':
    case 'closed_before':
      if (!isOwn(refund, closed)) return refuse(details.CLOSED_ELSEWHERE);
      return { change: { state: 'closed', detail: null } };
    case 'leased':
      return refuse(details.HELD);
    case 'answered':
      return refuse(details.SOLD);
    case 'other_form':
      return refuse(details.OTHER_FORM);
  }
}

async function findWallet(turn: Turn): Promise<Outcome> {
  return (await turn.findWallet()) === null ? { wait: turn.noWallet } : 'next';
}

/** The book has its transfer already, whatever the journal has lost since. */
async function recognisePaid({ ports, refund }: Turn): Promise<Outcome> {
  const change = await findPaid(ports, refund);
  return change === null ? 'next' : { change };
}

/** The wallet is another account by now: the job may be in the lane of the one before, and nothing is sent beside it. */
async function followEarlierWallet(turn: Turn): Promise<Outcome> {
  const { job } = turn.refund;
  if (job === null || job === (await turn.nameJob()).jobId) return 'next';
  if ((await turn.ports.journal.readJob(job)) !== null) return { change: { state: 'sending', detail: null } };
  return { change: { state: 'failed', detail: details.OTHER_ACCOUNT, maybeSent: true } };
}

/** Redis may have lost since then that the payment is closed, and nothing is sent for one that is not. */
async function closeAgain(turn: Turn): Promise<Outcome> {
  const { refund } = turn;
  crashPoint('R3');
  const closed = await turn.closeAgain();
  const maybeSent = refund.job !== null;
  if (closed.outcome === 'leased') return { wait: details.HELD };
  if (closed.outcome === 'answered' || closed.outcome === 'other_form') return { fail: details.SOLD, maybeSent };
  if (!isOwn(refund, closed)) return { fail: details.CLOSED_ELSEWHERE, maybeSent };
  // It was open again: Redis has lost what came after the closing, and with it the job, which may have been sent.
  return closed.outcome === 'closed' && maybeSent ? { fail: details.FORGOTTEN, maybeSent } : 'next';
}

/** What came before the closing is in the book from then on, so that what is seen next stays. */
async function waitForBook(turn: Turn): Promise<Outcome> {
  if (await isNamed(turn)) return 'next';
  return (await turn.ports.outbox.waitUntilRead(READ_WITHIN_MS)) ? 'next' : { wait: details.NOT_READ };
}

/**
 * Looks at the payment once more: since the refund was asked for it may have bought an answer, or Redis may have lost that it
 * did. Then names the job, before the journal has it, so that it is known after a crash which job may be there.
 */
async function lookAgain(turn: Turn): Promise<Outcome> {
  const { ports, refund } = turn;
  if (await isNamed(turn)) return 'next';
  const closed = await turn.closeAgain();
  const preview = await previewRefund(ports, refund.payment);
  if (preview === null) throw new Error(`the book no longer has ${refund.payment}`);
  const { jobId } = await turn.nameJob();
  // In a book that was restored, a job of the time before may be there.
  const maybeSent = refund.job !== null || beginOf(refund, closed) < Date.parse(refund.attemptAt);
  const lost = await findLost(ports.book, preview, closed);
  // A job that is there is not written again: its end is read, and is booked again.
  if (lost.length > 0 && (await ports.journal.readJob(jobId)) === null) {
    // In a book that was restored, another one is booked again once its job is read. It never waits for this one in turn.
    const inWork = preview.refunds.filter(({ id, state }) => lost.includes(id) && WORK_STATES.includes(state));
    if (inWork.length > 0 && !lost.includes(refund.id)) return { wait: details.describeAwaited(inWork) };
    const known = preview.refunds.map(({ id }) => id);
    return { fail: details.describeLost(refund.id, lost, known), maybeSent: true };
  }
  if (preview.boughtAnswer && !refund.answered) return { fail: details.SOLD, maybeSent };
  if (preview.obstacles.some(({ reason }) => reason === 'withdrawn')) return { fail: details.WITHDRAWN, maybeSent };
  // A node may be behind, or the chain is being reorganised.
  if (preview.recipient === null) return { wait: details.NO_PAYER };
  if (preview.recipient.address !== refund.recipient) return { fail: details.OTHER_PAYER, maybeSent };
  if (preview.shown?.transaction !== refund.arrivedIn) return { fail: details.MOVED, maybeSent };
  const doubts = [...new Set([...refund.doubts, ...preview.doubts])];
  const isSame = refund.job === jobId && doubts.length === refund.doubts.length;
  return isSame ? 'next' : { change: { job: jobId, doubts } };
}

/** An agent worker sends it from then on. */
async function writeJob(turn: Turn): Promise<Outcome> {
  const { refund, ports } = turn;
  const { journal } = ports;
  const { wallet, jobId } = await turn.nameJob();
  const input = describeInput(refund);
  const result = await journal.submitNamed({
    lane: wallet.lane,
    jobId,
    operation: 'refund',
    wallet: wallet.name,
    input: { ...input },
    keyId: refund.askedBy.at(-1) ?? '',
    latestMs: beginOf(refund, await turn.closeAgain()) + ACCEPTED_WITHIN_MS,
  });
  crashPoint('R4');
  switch (result.outcome) {
    case 'accepted':
    case 'known': {
      const job = await journal.readJob(jobId);
      if (job !== null && !isSameTransfer(job, input)) return { fail: details.OTHER_JOB, maybeSent: true };
      return { change: { state: 'sending', job: jobId, transaction: null, detail: null } };
    }
    case 'refused':
      if (result.reason === 'late') return { fail: details.FORGOTTEN, maybeSent: true };
      return { wait: details.describeWait(result.reason, wallet.name) };
    case 'conflict':
    case 'forgotten':
      return { fail: details.OTHER_JOB, maybeSent: true };
  }
}

/** Notes its transaction once it is final. */
async function watchJob({ ports, refund }: Turn): Promise<Outcome> {
  // Named by a person, because the journal no longer has the job, or noted below.
  if (refund.transaction !== null) return 'next';
  const job = await ports.journal.readJob(refund.job ?? '');
  if (job === null) {
    const change = await findPaid(ports, refund);
    return change === null ? { fail: details.FORGOTTEN, maybeSent: true } : { change };
  }
  if (job.state !== 'FINAL') {
    if (!hasFailed(job)) return 'later';
    if (job.failure?.code === JOB_ABANDONED) return { fail: details.ABANDONED, maybeSent: true };
    return { fail: job.failure?.message ?? `Its job ended as ${job.state}.`, maybeSent: false };
  }
  const transaction = minedTransaction(job);
  const taken = await takeTransaction(ports.book, refund, transaction);
  if (taken === null) return 'later';
  if ('takenBy' in taken) return { fail: details.describeTaken(transaction, taken.takenBy), maybeSent: true };
  return { changed: taken };
}

/** It is booked from what the ledger reports. */
async function bookRefund({ ports, refund }: Turn): Promise<Outcome> {
  const transaction = refund.transaction as Hex;
  crashPoint('R5');
  await reportPaid(ports, refund, transaction);
  crashPoint('R6');
  return { change: { state: 'refunded', transaction, detail: null } };
}

/**
 * A refund that has failed or was given up, as it goes on: the book has its transfer, or, where it has failed, the journal has
 * its job again, which it had lost; null: neither.
 */
export async function recoverRefund(ports: RefundPorts, refund: Refund): Promise<Refund | null> {
  if (!ENDED_STATES.includes(refund.state)) return null;
  const paid = await findPaid(ports, refund);
  if (paid !== null) return changeRefund(ports.book, refund, ENDED_STATES, paid);
  const job = await ports.journal.readJob(refund.job ?? '');
  if (job === null || hasFailed(job) || !isSameTransfer(job, describeInput(refund))) return null;
  // Another refund has the transaction of this job, and it would fail by it again.
  if (await hasPaidAnother(ports.book, job, refund)) return null;
  return changeRefund(ports.book, refund, ['failed'], { state: 'sending', transaction: null, detail: null });
}

/** As the book has it as paid; null: it has not. */
async function findPaid({ book }: RefundPorts, refund: Refund): Promise<Change | null> {
  const paid = await findBooked(book, refund);
  return paid === undefined ? null : { state: 'refunded', transaction: paid.transaction, detail: null };
}

/** What a restored book names may have been sent and deleted since the copy. */
async function isNamed({ ports, refund }: Turn): Promise<boolean> {
  if (refund.job === null) return false;
  const { gapEndMs } = await ports.book.readTimes(refund.chainId);
  return Date.parse(refund.attemptAt) >= (gapEndMs ?? 0);
}
