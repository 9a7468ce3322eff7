import type { JobRecord } from '@tollgate/journal';
import { readPaymentName } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import { closeForRefund, findLost } from './close-for-refund.js';
import { judgeTransaction } from './judge-transaction.js';
import { findPayFault } from './may-pay.js';
import type { RefundOption, RefundPage, RefundPorts, RefundSearch, SharedPorts } from './ports.js';
import { findOtherDecimals, previewRefund, type RefundPreview } from './preview.js';
import { nameRefund, readRefundJob } from './refund-job.js';
import { ENDED_STATES, type Refund } from './refund.js';
import { assertTerms, notFailed, paymentNotFound, RefundRefusedError, refuse } from './refusals.js';
import { advanceRefund, READ_WITHIN_MS, recoverRefund } from './steps.js';
import { askForRefund, changeRefund, nameTransaction, retryRefund } from './write-refunds.js';

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

/**
 * What people ask and decide about refunds, and the work that follows. Each request is written before anything is done for it,
 * and may be repeated. Each throws RefundRefusedError, and what the ports throw.
 */
export class Refunds {
  /** A refund is worked on by one caller at a time. */
  readonly #running = new Map<string, Promise<Refund>>();

  constructor(
    private readonly shared: SharedPorts,
    /** At least one. */
    private readonly options: readonly RefundOption[],
  ) {}

  async preview(payment: string): Promise<RefundPreview> {
    const preview = await previewRefund(await this.#portsOfPayment(payment), payment);
    if (preview === null) throw paymentNotFound();
    return preview;
  }

  /** @throws RangeError for a cursor that is none */
  list(search: RefundSearch, page: { limit: number; cursor?: string | undefined }): Promise<RefundPage> {
    return this.shared.book.search(search, page);
  }

  async read(id: string): Promise<Refund> {
    const refund = await this.shared.book.read(id);
    if (refund === null) throw new RefundRefusedError('refund_not_found', 'There is no such refund.');
    return refund;
  }

  /** Asks for a refund, and takes it as far as it goes now. The same request again returns the same refund. */
  async ask(keyId: string, request: RefundRequest): Promise<Refund> {
    const { payment, number, answered } = request;
    const id = nameRefund(payment, number);
    const known = await this.shared.book.read(id);
    if (known !== null && known.state !== 'refused') return this.#repeat(known, request);
    const preview = await this.preview(payment);
    // Another caller may have asked for it meanwhile.
    const meanwhile = preview.refunds.find((refund) => refund.id === id && refund.state !== 'refused');
    if (meanwhile !== undefined) return this.#repeat(meanwhile, request);
    const terms = { id, payment, number, answered, ...this.#judge(preview, request) };
    return this.#advanceAsked(await askForRefund(this.#portsOf(terms), terms, keyId));
  }

  /** Sends a refund again whose job has failed and moved nothing. One that is paid, or whose job is there, is not sent again. */
  async retry(keyId: string, id: string): Promise<Refund> {
    const refund = await this.read(id);
    const recovered = await this.#recover(refund);
    if (recovered !== null) return recovered;
    const ports = this.#portsOf(refund);
    const decimalsDiffer = await findOtherDecimals(ports);
    if (decimalsDiffer !== null) throw refuse('decimals_differ', decimalsDiffer);
    return this.#advanceAsked(await retryRefund(ports, refund, keyId));
  }

  /** Ends a refund whose job has failed. The payment stays closed, and may be refunded under the next number. */
  async giveUp(id: string): Promise<Refund> {
    const refund = await this.read(id);
    const recovered = await this.#recover(refund);
    if (recovered !== null) return recovered;
    const given = await changeRefund(this.shared.book, refund, ['failed'], { state: 'given_up' });
    const now = given ?? (await this.read(id));
    if (now.state !== 'given_up') throw notFailed(refund, now, 'given up');
    return now;
  }

  /** Books a refund that was sent and whose job is no longer stored, by the transaction that a person has found on the chain. */
  async markPaid(id: string, transaction: Hex): Promise<Refund> {
    const before = await this.read(id);
    const refund = (await this.#recover(before)) ?? before;
    const { state, transaction: booked } = refund;
    if (['refunded', 'sending'].includes(state) && booked === transaction) return this.#advanceAsked(refund);
    if (booked !== null) {
      const detail = `It is booked by another transaction already, ${booked}. Nothing is booked by the one that you named.`;
      throw refuse('state', `The refund is ${state}. ${detail}`, { state, transaction: booked });
    }
    if (!ENDED_STATES.includes(state)) throw notFailed(refund, refund, 'booked so');
    const ports = this.#portsOf(refund);
    const judged = await judgeTransaction(ports, refund, transaction);
    if (judged.outcome === 'not_paid') throw refuse('transaction', judged.detail);
    const lost = await this.#findLost(refund);
    // It may have paid one of these: named to another, it could not be named to that one any more.
    if (lost.length > 0 && !lost.includes(id)) {
      const detail = `The ledger has ${lost.join(', ')} as paid, and the book lacks it. Name the transaction to that one first.`;
      throw refuse('transaction', detail);
    }
    return this.#advanceAsked(await nameTransaction(ports, refund, { transaction, amount: judged.amount }));
  }

  /** Takes a refund as far as it goes now, and returns it. */
  async advance(refund: Refund): Promise<Refund> {
    const before = this.#running.get(refund.id);
    if (before !== undefined) return before;
    const running = advanceRefund(this.#portsOf(refund), refund).finally(() => this.#running.delete(refund.id));
    this.#running.set(refund.id, running);
    return running;
  }

  listInWork(): Promise<Refund[]> {
    return this.shared.book.listInWork();
  }

  /** Base units of a token that refunds of today, UTC, have paid back or may pay back yet. */
  async readToday(token: Pick<Refund, 'chainId' | 'asset'>): Promise<bigint> {
    const { perDay } = await this.shared.book.readToday({ ...token, recipient: '' }, '', '');
    return perDay;
  }

  /** The refund of a job; null where the book does not know it, as after a restore. */
  findOfJob(job: JobRecord): Promise<Refund | null> {
    return this.shared.book.read(readRefundJob(job)?.refund ?? '');
  }

  /** Why a refund's job, which has not ended, must not go on; null: it may. */
  async findPayFault(job: JobRecord): Promise<string | null> {
    const refund = await this.findOfJob(job);
    return findPayFault(this.#portsOf(refund ?? { chainId: job.lane.chainId, asset: null }), job, refund);
  }

  /** Returns the refund that exists already, if it was asked for in the same terms. */
  #repeat(known: Refund, { amount = known.amount, answered }: RefundRequest): Promise<Refund> {
    return this.#advanceAsked(assertTerms(known, { amount, answered }));
  }

  /** The recipient, the amount, and what a person has to look at. */
  #judge(preview: RefundPreview, { amount = preview.left, answered, reason }: RefundRequest) {
    const obstacles = preview.obstacles.filter((obstacle) => !(answered && obstacle.reason === 'answered'));
    const [first] = obstacles;
    if (first !== undefined) throw refuse(first.reason, first.detail, { obstacles });
    const { recipient, shown, chainId, asset, permit, doubts } = preview;
    if (recipient === null || shown === null) throw refuse('unclear', 'The chain shows no payer.');
    return {
      amount,
      asset,
      chainId,
      recipient: recipient.address,
      arrivedIn: shown.transaction,
      transfers: shown.transfers,
      permit,
      reason: reason ?? null,
      doubts,
    };
  }

  async #advanceAsked(refund: Refund): Promise<Refund> {
    const advanced = await this.advance(refund);
    if (advanced.state === 'refused') throw refuse('ledger', advanced.detail ?? '', { refund: advanced });
    return advanced;
  }

  /** A refund that has failed or was given up, where the book has its transfer all the same, or the journal its job. */
  async #recover(refund: Refund): Promise<Refund | null> {
    const recovered = await recoverRefund(this.#portsOf(refund), refund);
    return recovered?.state === 'sending' ? this.advance(recovered) : recovered;
  }

  async #portsOfPayment(payment: string): Promise<RefundPorts> {
    const asset = (await this.shared.book.findPayment(payment))?.asset ?? null;
    return this.#portsOf({ chainId: readPaymentName(payment)?.chainId ?? null, asset });
  }

  /**
   * What a payment or refund in this token needs. For a token that the seller no longer accepts they are those of another one,
   * on the same chain if there is one: the chain then shows no payer, and nothing is sent.
   */
  #portsOf({ chainId, asset }: { chainId: number | null; asset: string | null }): RefundPorts {
    const onChain = this.options.filter(({ chain }) => chain.chainId === chainId);
    const option = onChain.find(({ settings }) => settings.asset === asset) ?? onChain[0] ?? this.options[0];
    if (option === undefined) throw new Error('a seller accepts something');
    return { ...this.shared, ...option };
  }

  /** The payment's refunds that the ledger has as paid and the book lacks. */
  async #findLost(refund: Refund): Promise<readonly string[]> {
    const { book, outbox } = this.shared;
    if (!(await outbox.waitUntilRead(READ_WITHIN_MS)))
      throw refuse('transaction', 'The book has not read all events yet. Name the transaction again.');
    const closed = await closeForRefund(this.shared, refund);
    return findLost(book, { payment: refund.payment, refunds: await book.listOf(refund.payment) }, closed);
  }
}
