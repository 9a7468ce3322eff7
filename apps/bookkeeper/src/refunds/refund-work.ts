import { Inject, Injectable, Logger } from '@nestjs/common';
import { nameRefundJob, REFUNDS_WALLET } from '@tollgate/agent-jobs';
import {
  changeRefund,
  DeposedError,
  listRefundsInWork,
  listRefundsOf,
  readGapEnd,
  WORK_STATES,
  type BookWriter,
  type Refund,
} from '@tollgate/book';
import { crashPoint, pause, type LaneId } from '@tollgate/journal';
import { Ledger, type CloseResult } from '@tollgate/ledger';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { OutboxDrain } from '../drain/outbox-drain.js';
import { Journals } from '../journals/journals.js';
import { beginOf, describeInput, isSameTransfer } from './refund-attempt.js';
import * as details from './refund-details.js';
import { RefundEnd } from './refund-end.js';
import { RefundLedger } from './refund-ledger.js';
import { RefundPreviews } from './refund-previews.js';

const LOOK_EVERY_MS = 1_000;
/** The drain is woken, and reads to the end of the outbox at once; where much is behind, the refund waits for its next turn. */
const READ_WITHIN_MS = 2_000;
/** A job that the journal has not accepted by then may have been deleted from it since: a person looks at it. */
const ACCEPTED_WITHIN_MS = 3 * 86_400_000;

/** Why a closed refund is not sent now, or not at all; `maybeSent`: its job may be sent in spite of that. */
type Stop = { wait: string } | { fail: string; maybeSent: boolean };

/**
 * Brings refunds to their end, step by step: the ledger is closed for the payment, its job is written, its end is read, and
 * the refund is recorded in the ledger and the book. Each step may be repeated, after a crash and by two callers.
 */
@Injectable()
export class RefundWork {
  readonly #logger = new Logger('Refunds');
  readonly #ledger: RefundLedger;
  readonly #end: RefundEnd;
  /** A refund is worked on by one caller at a time. */
  readonly #running = new Map<string, Promise<Refund>>();

  constructor(
    @Inject(BookkeeperConnections) { commands: redis }: BookkeeperConnections,
    @Inject(BookkeeperEnvironment) { redis: { durability, bookOutboxLimit: outboxLimit } }: BookkeeperEnvironment,
    @Inject(Journals) private readonly journals: Journals,
    @Inject(OutboxDrain) private readonly drain: OutboxDrain,
    @Inject(RefundPreviews) private readonly previews: RefundPreviews,
  ) {
    this.#ledger = new RefundLedger(new Ledger({ redis, durability, book: { outboxLimit } }));
    this.#end = new RefundEnd(journals, this.#ledger);
  }

  /**
   * Takes a refund as far as it goes now, and returns it.
   * @throws ChainUnavailableError, StoreError, BookUnavailableError, DeposedError: the step may have been made, and is repeated
   */
  async advance(writer: BookWriter, refund: Refund): Promise<Refund> {
    const before = this.#running.get(refund.id);
    if (before !== undefined) return before;
    const running = this.#advance(writer, refund).finally(() => this.#running.delete(refund.id));
    this.#running.set(refund.id, running);
    return running;
  }

  /** Advances all refunds that have not ended, until the signal is aborted. @throws DeposedError */
  async run(writer: BookWriter, signal: AbortSignal): Promise<void> {
    /** What is logged already, of each refund that fails. */
    let failing = new Map<string, string>();
    while (!signal.aborted) {
      const before = failing;
      failing = new Map();
      const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | null> =>
        work().catch((error: unknown) => {
          if (error instanceof DeposedError) throw error;
          const reason = error instanceof Error ? error.message : String(error);
          if (before.get(what) !== reason) this.#logger.warn({ msg: `${what}: ${reason}`, err: error });
          failing.set(what, reason);
          return null;
        });
      const inWork = await attempt('the refunds wait', () => listRefundsInWork(writer.database));
      // A refund that cannot continue does not delay the others.
      await Promise.all(
        (inWork ?? []).map((refund) => attempt(`the refund ${refund.id} waits`, () => this.advance(writer, refund))),
      );
      await pause(LOOK_EVERY_MS, signal);
    }
  }

  /**
   * A refund that has failed or was given up, as it goes on: see `RefundEnd`; null: it does not.
   * @throws ChainUnavailableError, StoreError, BookUnavailableError, DeposedError
   */
  async recover(writer: BookWriter, refund: Refund): Promise<Refund | null> {
    const recovered = await this.#end.recover(writer, refund);
    return recovered?.state === 'sending' ? this.advance(writer, recovered) : recovered;
  }

  /** The payment's refunds that the ledger has as paid and the book lacks; null: the book has not read all events yet. */
  async findLost(writer: BookWriter, refund: Refund): Promise<readonly string[] | null> {
    if (!(await this.drain.waitUntilRead(READ_WITHIN_MS))) return null;
    const closed = await this.#ledger.close(refund);
    const refunds = await listRefundsOf(writer.database, refund.payment);
    return this.#ledger.findLost(writer.database, { payment: refund.payment, refunds }, closed);
  }

  async #advance(writer: BookWriter, refund: Refund): Promise<Refund> {
    let current = refund;
    for (;;) {
      const next = await this.#step(writer, current);
      if (next === null || next.state === current.state) return next ?? current;
      current = next;
    }
  }

  /** The refund after its next step; null: it has none now. */
  #step(writer: BookWriter, refund: Refund): Promise<Refund | null> {
    switch (refund.state) {
      case 'asked':
        return this.#close(writer, refund);
      case 'closed':
        return this.#send(writer, refund);
      case 'sending':
        return this.#end.read(writer, refund);
      default:
        return Promise.resolve(null);
    }
  }

  async #close(writer: BookWriter, refund: Refund): Promise<Refund | null> {
    const refuse = (detail: string) => changeRefund(writer, refund, ['asked'], { state: 'refused', detail });
    crashPoint('R1');
    const closed = await this.#ledger.close(refund);
    crashPoint('R2');
    switch (closed.outcome) {
      case 'closed':
      case 'closed_before':
        if (!this.#ledger.isOwn(refund, closed)) return refuse(details.CLOSED_ELSEWHERE);
        return changeRefund(writer, refund, ['asked'], { state: 'closed', detail: null });
      case 'leased':
        return refuse(details.HELD);
      case 'answered':
        return refuse(details.SOLD);
      case 'other_form':
        return refuse(details.OTHER_FORM);
    }
  }

  async #send(writer: BookWriter, refund: Refund): Promise<Refund | null> {
    const entry = await this.journals.directory.find(REFUNDS_WALLET);
    if (entry === null) return this.#wait(writer, refund, `No agent worker has a wallet named ${REFUNDS_WALLET}.`);
    const { lane } = entry;
    const jobId = nameRefundJob(lane, { refund: refund.id, attempt: refund.attempt });
    const paid = await this.#end.recognise(writer, refund);
    if (paid !== null) return paid;
    // The wallet is another account by now. The job may be in the lane of the one before, and nothing is sent beside it.
    if (refund.job !== null && refund.job !== jobId) return this.#findJob(writer, refund, refund.job);
    crashPoint('R3');
    // Redis may have lost since then that the payment is closed, and nothing is sent for one that is not.
    const closed = await this.#ledger.close(refund);
    const reopened = this.#findReopened(refund, closed);
    if (reopened !== null) return this.#stop(writer, refund, jobId, reopened);
    let named: Refund | null = refund;
    // What a restored book names may have been sent and deleted since the copy.
    if (refund.job === null || Date.parse(refund.attemptAt) < ((await readGapEnd(writer.database)) ?? 0)) {
      const judged = await this.#judge(writer, refund, closed, jobId);
      if (!('doubts' in judged)) return this.#stop(writer, refund, jobId, judged);
      const { doubts } = judged;
      // Before the journal has it, so that it is known after a crash which job may be there.
      const isNamed = refund.job === jobId && doubts.every((doubt) => refund.doubts.includes(doubt));
      named = isNamed ? refund : await changeRefund(writer, refund, ['closed'], { job: jobId, doubts });
      if (named === null) return null;
    }
    const refused = await this.#submit(named, lane, closed);
    if (refused !== null) return this.#stop(writer, refund, jobId, refused);
    return changeRefund(writer, refund, ['closed'], { state: 'sending', job: jobId, transaction: null, detail: null });
  }

  async #wait(writer: BookWriter, refund: Refund, detail: string): Promise<Refund | null> {
    return refund.detail === detail ? null : changeRefund(writer, refund, ['closed'], { detail });
  }

  #stop(writer: BookWriter, refund: Refund, jobId: string, stop: Stop): Promise<Refund | null> {
    if ('wait' in stop) return this.#wait(writer, refund, stop.wait);
    const { fail: detail, maybeSent } = stop;
    const change = { state: 'failed', detail, job: jobId, ...(maybeSent && { maybeSent }) } as const;
    return changeRefund(writer, refund, ['closed'], change);
  }

  /** Null: the payment is closed for this refund, as it was. */
  #findReopened(refund: Refund, closed: CloseResult): Stop | null {
    const maybeSent = refund.job !== null;
    if (closed.outcome === 'leased') return { wait: details.HELD };
    if (closed.outcome === 'answered' || closed.outcome === 'other_form') return { fail: details.SOLD, maybeSent };
    if (!this.#ledger.isOwn(refund, closed)) return { fail: details.CLOSED_ELSEWHERE, maybeSent };
    // It was open again: Redis has lost what came after the closing, and with it the job, which may have been sent.
    return closed.outcome === 'closed' && maybeSent ? { fail: details.FORGOTTEN, maybeSent } : null;
  }

  /**
   * Looks at the payment once more. It is closed and all that came before is in the book, so that what is seen now stays:
   * since the refund was asked for it may have bought an answer, or Redis may have lost that it did.
   */
  async #judge(
    { database }: BookWriter,
    refund: Refund,
    closed: CloseResult,
    jobId: string,
  ): Promise<{ doubts: readonly string[] } | Stop> {
    if (!(await this.drain.waitUntilRead(READ_WITHIN_MS))) return { wait: details.NOT_READ };
    const preview = await this.previews.describe(database, refund.payment);
    if (preview === null) throw new Error(`the book no longer has ${refund.payment}`);
    // In a book that was restored, a job of the time before may be there.
    const maybeSent = refund.job !== null || beginOf(refund, closed) < Date.parse(refund.attemptAt);
    const lost = await this.#ledger.findLost(database, preview, closed);
    // A job that is there is not written again: its end is read, and is booked again.
    if (lost.length > 0 && (await this.journals.journal.readJob(jobId)) === null) {
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
    return { doubts: [...new Set([...refund.doubts, ...preview.doubts])] };
  }

  /** Writes the job that carries the refund out. Null: the journal has it. */
  async #submit(refund: Refund, lane: LaneId, closed: CloseResult): Promise<Stop | null> {
    const { journal } = this.journals;
    const jobId = nameRefundJob(lane, { refund: refund.id, attempt: refund.attempt });
    const input = describeInput(refund);
    const result = await journal.submitNamed({
      ...{ lane, jobId, operation: 'refund', wallet: REFUNDS_WALLET, input: { ...input } },
      keyId: refund.askedBy.at(-1) ?? '',
      latestMs: beginOf(refund, closed) + ACCEPTED_WITHIN_MS,
    });
    crashPoint('R4');
    switch (result.outcome) {
      case 'accepted':
      case 'known': {
        const job = await journal.readJob(jobId);
        return job === null || isSameTransfer(job, input) ? null : { fail: details.OTHER_JOB, maybeSent: true };
      }
      case 'refused':
        if (result.reason === 'late') return { fail: details.FORGOTTEN, maybeSent: true };
        return { wait: details.WAITS[result.reason] };
      case 'conflict':
      case 'forgotten':
        return { fail: details.OTHER_JOB, maybeSent: true };
    }
  }

  /** Goes on with a job that was named before, and is sent by an account that the wallet was. */
  async #findJob(writer: BookWriter, refund: Refund, jobId: string): Promise<Refund | null> {
    const job = await this.journals.journal.readJob(jobId);
    const change =
      job === null
        ? ({ state: 'failed', detail: details.OTHER_ACCOUNT, maybeSent: true } as const)
        : ({ state: 'sending', detail: null } as const);
    return changeRefund(writer, refund, ['closed'], change);
  }
}
