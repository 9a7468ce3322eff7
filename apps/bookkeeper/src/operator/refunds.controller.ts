import { Body, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { limitParameter, onlyFields, textParameter, type ApiKey } from '@tollgate/http';
import type { Hex } from '@tollgate/protocol';
import { REFUND_STATES, type RefundPreview } from '@tollgate/refunds';
import { z } from 'zod';

import { BookHolder } from '../book/book-holder.js';
import { OperatorRefunds, type OperatorRefund, type OperatorRefundPage } from '../jobs/operator-refunds.js';
import { ForOperators, OperatorController, OperatorKey } from './operator-controller.js';

const refundQuery = onlyFields({
  payment: textParameter.optional(),
  state: z.enum(REFUND_STATES, `must be one of ${REFUND_STATES.join(', ')}`).optional(),
  ...{ limit: limitParameter, cursor: textParameter.optional() },
});

const PAYMENT = "must be a payment's id, at most 300 characters";
const AMOUNT = 'must be base units, a whole number above 0, as text';
const REASON = 'must be 1 to 200 printable characters';
const NUMBER = 'must be a whole number from 1 to 1000';

const refundBody = onlyFields({
  payment: z.string(PAYMENT).min(1, PAYMENT).max(300, PAYMENT).describe("The payment's id in the book."),
  amount: z
    .string(AMOUNT)
    .regex(/^[1-9]\d{0,77}$/, AMOUNT)
    .optional()
    .describe('Base units; without it, all that is left.'),
  reason: z
    .string(REASON)
    .regex(/^[^\p{Cc}\p{Cs}]{1,200}$/u, REASON)
    .optional(),
  answered: z
    .boolean('must be true or false')
    .default(false)
    .describe('True to refund a payment that bought an answer, which is then no longer replayed.'),
  number: z
    .int(NUMBER)
    .min(1, NUMBER)
    .max(1000, NUMBER)
    .default(1)
    .describe("Which refund of the payment this is. A payment's second refund is number 2."),
});

const TRANSACTION = 'must be the hash of a transaction, 0x and 64 hexadecimal digits';

const paidBody = onlyFields({
  transaction: z
    .string(TRANSACTION)
    .regex(/^0x[0-9a-fA-F]{64}$/, TRANSACTION)
    .describe('The hash of the transaction that paid it.'),
});

@OperatorController()
export class RefundsController {
  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(OperatorRefunds) private readonly refunds: OperatorRefunds,
  ) {}

  @Get('payments/:id/refund')
  @ForOperators('operator:read', 'What a refund of a payment would do, and what speaks against it')
  preview(@Param('id') id: string): Promise<RefundPreview> {
    return this.book.refunds.preview(id);
  }

  @Get('refunds')
  @ForOperators('operator:read', 'Refunds that match all that is given, newest first')
  list(@Query({ schema: refundQuery }) query: z.output<typeof refundQuery>): Promise<OperatorRefundPage> {
    const { limit, cursor, ...search } = query;
    return this.refunds.list(search, { limit, cursor });
  }

  @Get('refunds/:id')
  @ForOperators('operator:read', 'A refund, with the state of its job')
  read(@Param('id') id: string): Promise<OperatorRefund> {
    return this.refunds.show(this.book.refunds.read(id));
  }

  @Post('refunds')
  @HttpCode(202)
  @ForOperators('operator:refund', 'Refunds a payment to the payer that the chain shows, once per number', 'refund.ask')
  ask(
    @OperatorKey() caller: ApiKey,
    @Body({ schema: refundBody }) body: z.output<typeof refundBody>,
  ): Promise<OperatorRefund> {
    return this.refunds.show(this.book.refunds.ask(caller.id, body));
  }

  @Post('refunds/:id/retry')
  @HttpCode(202)
  @ForOperators('operator:refund', 'Sends a refund again whose job has failed', 'refund.retry')
  retry(@OperatorKey() caller: ApiKey, @Param('id') id: string): Promise<OperatorRefund> {
    return this.refunds.show(this.book.refunds.retry(caller.id, id));
  }

  @Post('refunds/:id/give-up')
  @HttpCode(200)
  @ForOperators('operator:refund', 'Ends a refund whose job has failed; the payment stays closed', 'refund.give_up')
  giveUp(@Param('id') id: string): Promise<OperatorRefund> {
    return this.refunds.show(this.book.refunds.giveUp(id));
  }

  @Post('refunds/:id/paid')
  @HttpCode(200)
  @ForOperators(
    'operator:refund',
    'Books a refund that was sent and whose job is gone, by its transaction',
    'refund.paid',
  )
  markPaid(
    @Param('id') id: string,
    @Body({ schema: paidBody }) { transaction }: z.output<typeof paidBody>,
  ): Promise<OperatorRefund> {
    return this.refunds.show(this.book.refunds.markPaid(id, transaction.toLowerCase() as Hex));
  }
}
