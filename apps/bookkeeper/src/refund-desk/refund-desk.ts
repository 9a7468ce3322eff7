import { Inject, Injectable } from '@nestjs/common';
import { digestPlan, nameRefund } from '@tollgate/agent-jobs';
import {
  askForRefund,
  changeRefund,
  hasTerms,
  nameTransaction,
  readRefund,
  retryRefund,
  searchRefunds,
  type Refund,
} from '@tollgate/book';
import { ProblemError, refuseRequest, type ApiKey } from '@tollgate/common';
import { UnreadableJobError, type JobState } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';

import { BookHolder } from '../book/book-holder.js';
import { SellerChain } from '../chain/seller-chain.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { Journals } from '../journals/journals.js';
import { judgeTransaction } from '../refunds/judge-transaction.js';
import { RefundPreviews, type RefundPreview } from '../refunds/refund-previews.js';
import { RefundWork } from '../refunds/refund-work.js';
import {
  describeLarge,
  describeTooMuch,
  differs,
  notFailed,
  overCap,
  paymentNotFound,
  readAsked,
  refuse,
} from './refund-problems.js';

/** A refund as operators see it. */
export interface OperatorRefund extends Refund {
  /** The state of its job; `unreadable`: its record cannot be read, and it may still send; null: it has none, or the journal no longer has it. */
  readonly jobState: JobState | 'unreadable' | null;
  /** What an approval of the job names; null: it needs none, is not planned yet, or cannot be read. */
  readonly planDigest: string | null;
}

export interface OperatorRefundPage {
  readonly refunds: readonly OperatorRefund[];
  /** Continues after this page; null when it was the last. */
  readonly cursor: string | null;
}

export interface RefundRequest {
  readonly payment: string;
  /** Base units; without it, all that is left. */
  readonly amount?: string | undefined;
  readonly reason?: string | undefined;
  /** Means a payment that bought an answer. */
  readonly answered: boolean;
  /** Which refund of the payment this is. */
  readonly number: number;
}

/** Takes requests for refunds. Each is written before anything is done for it, and may be repeated. */
@Injectable()
export class RefundDesk {
  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(RefundPreviews) private readonly previews: RefundPreviews,
    @Inject(RefundWork) private readonly work: RefundWork,
    @Inject(Journals) private readonly journals: Journals,
    @Inject(SellerChain) private readonly chain: SellerChain,
    @Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment,
  ) {}

  async list(
    search: { payment?: string | undefined; state?: Refund['state'] | undefined },
    page: { limit: number; cursor?: string | undefined },
  ): Promise<OperatorRefundPage> {
    const found = await searchRefunds(this.book.writer.database, search, page).catch((error: unknown) => {
      throw error instanceof RangeError ? refuseRequest(['cursor is not one of this list']) : error;
    });
    return { refunds: await this.#describe(found.refunds), cursor: found.cursor };
  }

  async read(id: string): Promise<OperatorRefund> {
    return this.#describeOne(await this.#find(id));
  }

  /** Asks for a refund, and takes it as far as it goes now. The same request again returns the same refund. */
  async ask({ id: keyId }: ApiKey, request: RefundRequest): Promise<OperatorRefund> {
    const { payment, number, answered } = request;
    const id = nameRefund(payment, number);
    const known = await readRefund(this.book.writer.database, id);
    if (known !== null && known.state !== 'refused') return this.#repeat(known, request);
    const preview = await this.previews.describe(this.book.writer.database, payment);
    if (preview === null) throw paymentNotFound();
    // Another caller may have asked for it meanwhile.
    const meanwhile = preview.refunds.find((refund) => refund.id === id && refund.state !== 'refused');
    if (meanwhile !== undefined) return this.#repeat(meanwhile, request);
    const terms = { id, payment, number, answered, ...this.#judge(preview, request) };
    const caps = this.environment.refunds.caps(preview.decimals);
    const asked = await askForRefund(this.book.writer, terms, { keyId, caps, large: describeLarge(preview) });
    return this.#advance(readAsked(asked, preview));
  }

  /** Returns the refund that exists already, if it was asked for in the same terms. */
  #repeat(known: Refund, { amount = known.amount, answered }: RefundRequest): Promise<OperatorRefund> {
    if (!hasTerms(known, { amount, answered })) throw differs(known);
    return this.#advance(known);
  }

  /** Sends a refund again whose job has failed and moved nothing. One that is paid, or whose job is there, is not sent again. */
  async retry({ id: askedBy }: ApiKey, id: string): Promise<OperatorRefund> {
    const refund = await this.#find(id);
    const recovered = await this.#recover(refund);
    if (recovered !== null) return recovered;
    const decimalsDiffer = await this.previews.findOtherDecimals();
    if (decimalsDiffer !== null) throw refuse('decimals_differ', decimalsDiffer);
    const { refunds, payment } = this.environment;
    const limits = { keyId: askedBy, caps: refunds.caps(payment.assetDecimals) };
    const retried = await retryRefund(this.book.writer, refund, limits);
    if (retried.outcome === 'retried') return this.#advance(retried.refund);
    if (retried.outcome === 'over_cap') throw overCap(retried, payment.assetDecimals);
    throw notFailed(refund, await this.#find(id), 'retried');
  }

  /** Ends a refund whose job has failed. The payment stays closed, and may be refunded under the next number. */
  async giveUp(id: string): Promise<OperatorRefund> {
    const refund = await this.#find(id);
    const recovered = await this.#recover(refund);
    if (recovered !== null) return recovered;
    await changeRefund(this.book.writer, refund, ['failed'], { state: 'given_up' });
    const now = await this.#find(id);
    if (now.state !== 'given_up') throw notFailed(refund, now, 'given up');
    return this.#describeOne(now);
  }

  /** Books a refund that was sent and whose job is no longer stored, by the transaction that a person has found on the chain. */
  async markPaid(id: string, transaction: Hex): Promise<OperatorRefund> {
    const before = await this.#find(id);
    const refund = (await this.#recover(before)) ?? before;
    const { state, transaction: booked } = refund;
    if (['refunded', 'sending'].includes(state) && booked === transaction) return this.#advance(refund);
    if (booked !== null) {
      const detail = `It is booked by another transaction already, ${booked}. Nothing is booked by the one that you named.`;
      throw refuse('state', `The refund is ${state}. ${detail}`, { state, transaction: booked });
    }
    if (state !== 'failed' && state !== 'given_up') throw notFailed(refund, refund, 'booked so');
    const places = { chain: this.chain, journal: this.journals.journal, database: this.book.writer.database };
    const { reconcileConfirmations } = this.environment.reconcile;
    const judged = await judgeTransaction(places, refund, transaction, reconcileConfirmations);
    if (judged.outcome === 'not_paid') throw refuse('transaction', judged.detail);
    const lost = await this.work.findLost(this.book.writer, refund);
    if (lost === null) throw refuse('transaction', 'The book has not read all events yet. Name the transaction again.');
    // It may have paid one of these: named to another, it could not be named to that one any more.
    if (lost.length > 0 && !lost.includes(id)) {
      const detail = `The ledger has ${lost.join(', ')} as paid, and the book lacks it. Name the transaction to that one first.`;
      throw refuse('transaction', detail);
    }
    const named = await nameTransaction(this.book.writer, refund, { transaction, amount: judged.amount });
    switch (named.outcome) {
      case 'named':
        return this.#advance(named.refund);
      case 'taken':
        throw refuse('transaction', `It is booked already, for ${named.by}.`);
      case 'exceeds':
        throw refuse('exceeds', describeTooMuch(judged.amount, this.environment.payment.assetDecimals));
      case 'changed':
        throw notFailed(refund, await this.#find(id), 'booked so');
    }
  }

  /** A refund that has failed or was given up, where the book has its transfer all the same, or the journal its job. */
  async #recover(refund: Refund): Promise<OperatorRefund | null> {
    const hasEnded = refund.state === 'failed' || refund.state === 'given_up';
    const recovered = hasEnded ? await this.work.recover(this.book.writer, refund) : null;
    return recovered === null ? null : this.#describeOne(recovered);
  }

  /** The recipient, the amount, and what a person has to look at. @throws ProblemError where it is not possible */
  #judge(preview: RefundPreview, { amount = preview.left, answered, reason }: RefundRequest) {
    const obstacles = preview.obstacles.filter((obstacle) => !(answered && obstacle.reason === 'answered'));
    const [first] = obstacles;
    if (first !== undefined) throw refuse(first.reason, first.detail, { obstacles });
    const { recipient, shown, asset, permit, doubts } = preview;
    if (recipient === null || shown === null) throw refuse('unclear', 'The chain shows no payer.');
    return {
      ...{ amount, asset, chainId: this.environment.payment.chainId, recipient: recipient.address },
      ...{ arrivedIn: shown.transaction, transfers: shown.transfers },
      ...{ permit, reason: reason ?? null, doubts },
    };
  }

  async #advance(refund: Refund): Promise<OperatorRefund> {
    const advanced = await this.work.advance(this.book.writer, refund);
    if (advanced.state === 'refused') throw refuse('ledger', advanced.detail ?? '', { refund: advanced });
    return this.#describeOne(advanced);
  }

  async #find(id: string): Promise<Refund> {
    const refund = await readRefund(this.book.writer.database, id);
    if (refund !== null) return refund;
    throw new ProblemError({ status: 404, code: 'refund_not_found', detail: 'There is no such refund.' });
  }

  async #describeOne(refund: Refund): Promise<OperatorRefund> {
    const [described] = await this.#describe([refund]);
    if (described === undefined) throw new Error('a refund is described as one');
    return described;
  }

  async #describe(refunds: readonly Refund[]): Promise<OperatorRefund[]> {
    const jobs = await this.journals.journal.readEachJob(refunds.map(({ job }) => job ?? ''));
    return refunds.map((refund, index) => {
      const job = jobs[index] ?? null;
      if (job instanceof UnreadableJobError) {
        this.journals.report(job);
        return { ...refund, jobState: 'unreadable', planDigest: null };
      }
      return { ...refund, jobState: job?.state ?? null, planDigest: job === null ? null : digestPlan(job) };
    });
  }
}
