import { Get, Inject, Param, Query } from '@nestjs/common';
import {
  BOOKED_STATES,
  PAYMENT_ORDERS,
  provePayment,
  readBookedPayment,
  searchPayments,
  type PaymentPage,
  type PaymentPicture,
  type BookProof,
} from '@tollgate/book';
import { limitParameter, onlyFields, ProblemError, refuseRequest, textParameter, wordsParameter } from '@tollgate/http';
import { paymentNotFound } from '@tollgate/refunds';
import { z } from 'zod';

import { BookHolder } from '../book/book-holder.js';
import { ForOperators, OperatorController } from './operator-controller.js';
import { timeParameter } from './time-parameter.js';

const amount = textParameter.regex(/^(0|[1-9]\d{0,77})$/, 'must be base units, a whole number').optional();

const paymentQuery = onlyFields({
  transaction: textParameter.optional(),
  payer: textParameter.optional(),
  reference: textParameter.optional().describe("The ledger's id of the payment."),
  requestId: textParameter.optional(),
  route: textParameter.optional(),
  state: wordsParameter(BOOKED_STATES).optional().describe('One or more, separated by commas.'),
  owed: z
    .literal('true', 'must be true; it may be left out')
    .transform(() => true as const)
    .optional()
    .describe(
      'Only payments of which something is owed to the payer: they bought nothing, and were not paid back whole.',
    ),
  dust: z
    .literal('false', 'must be false; it may be left out')
    .transform(() => true as const)
    .optional()
    .describe('Without the sums of unclaimed transfers below BOOK_LEAST_UNCLAIMED.'),
  order: z.enum(PAYMENT_ORDERS, `must be one of ${PAYMENT_ORDERS.join(', ')}`).optional(),
  ...{ minAmount: amount, maxAmount: amount, from: timeParameter.optional(), to: timeParameter.optional() },
  ...{ limit: limitParameter, cursor: z.string('must be given only once').max(600, 'is too long').optional() },
});

@OperatorController('payments')
export class PaymentsController {
  constructor(@Inject(BookHolder) private readonly book: BookHolder) {}

  @Get()
  @ForOperators(
    'operator:read',
    'Payments that match all that is given, newest first unless another order is asked for',
  )
  async search(@Query({ schema: paymentQuery }) query: z.output<typeof paymentQuery>): Promise<PaymentPage> {
    const { limit, order, cursor, from: fromMs, to: toMs, dust: withoutDust, ...search } = query;
    try {
      return await searchPayments(
        this.book.writer.database,
        { ...search, withoutDust, fromMs, toMs },
        { limit, order, cursor },
      );
    } catch (error) {
      throw error instanceof RangeError ? refuseRequest(['cursor is not one of this list']) : error;
    }
  }

  @Get(':id')
  @ForOperators('operator:read', 'A payment with its timeline and its entries')
  async read(@Param('id') id: string): Promise<PaymentPicture> {
    const payment = await readBookedPayment(this.book.writer.database, id);
    if (payment === null) throw paymentNotFound();
    return payment;
  }

  @Get(':id/proof')
  @ForOperators('operator:read', 'What was booked for a payment, provable without the database')
  async prove(@Param('id') id: string): Promise<BookProof> {
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
