import { Inject } from '@nestjs/common';
import { provePayment, readBookedPayment, searchPayments } from '@tollgate/book';
import { hintAt } from '@tollgate/config';
import { ProblemError, refuseRequest } from '@tollgate/http';
import { paymentNotFound } from '@tollgate/refunds';

import { BookHolder } from '../book/book-holder.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { OperatorController, Serve, type Operator } from './operator-controller.js';

@OperatorController()
export class PaymentsController {
  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment,
  ) {}

  @Serve('GET /operator/payments')
  async search({ query }: Operator<'GET /operator/payments'>) {
    const { limit, order, cursor, from: fromMs, to: toMs, dust: withoutDust, option, ...search } = query;
    const token = option === undefined ? undefined : this.#tokenOf(option);
    try {
      return await searchPayments(
        this.book.writer.database,
        { ...search, token, withoutDust, fromMs, toMs },
        { limit, order, cursor },
      );
    } catch (error) {
      throw error instanceof RangeError ? refuseRequest(['cursor is not one of this list']) : error;
    }
  }

  /** @throws ProblemError for an option that the settings do not have */
  #tokenOf(name: string): string {
    const { tokens } = this.environment;
    const option = tokens.find(({ entry }) => entry === name);
    if (option !== undefined) return `${option.chain.id}:${option.asset}`;
    const names = tokens.map(({ entry }) => entry);
    throw refuseRequest([`option is none of the seller's; ${hintAt(name, names, 'options')}`]);
  }

  @Serve('GET /operator/payments/:id')
  async read({ id }: Operator<'GET /operator/payments/:id'>) {
    const payment = await readBookedPayment(this.book.writer.database, id);
    if (payment === null) throw paymentNotFound();
    return payment;
  }

  @Serve('GET /operator/payments/:id/proof')
  async prove({ id }: Operator<'GET /operator/payments/:id/proof'>) {
    const proof = await this.book.writer.database.snapshot((within) => provePayment(within, id));
    if (proof === 'unknown') throw paymentNotFound();
    if (proof === 'not_closed') {
      const detail =
        'A booking of this payment is not closed yet. It is after the end of its day, UTC, or by POST /operator/closings.';
      throw new ProblemError({ status: 409, code: 'not_closed', detail });
    }
    return proof;
  }
}
