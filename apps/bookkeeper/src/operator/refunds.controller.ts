import { Body, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { REFUND_STATES } from '@tollgate/book';
import { limitParameter, onlyFields, textParameter, type ApiKey } from '@tollgate/common';
import type { Hex } from '@tollgate/protocol';
import { z } from 'zod';

import { BookHolder } from '../book/book-holder.js';
import { RefundDesk, type OperatorRefund, type OperatorRefundPage } from '../refund-desk/refund-desk.js';
import { paymentNotFound } from '../refund-desk/refund-problems.js';
import { RefundPreviews, type RefundPreview } from '../refunds/refund-previews.js';
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
    @Inject(RefundDesk) private readonly desk: RefundDesk,
    @Inject(RefundPreviews) private readonly previews: RefundPreviews,
  ) {}

  @Get('payments/:id/refund')
  @ForOperators('operator:read', 'What a refund of a payment would do, and what speaks against it')
  async preview(@Param('id') id: string): Promise<RefundPreview> {
    const preview = await this.previews.describe(this.book.writer.database, id);
    if (preview === null) throw paymentNotFound();
    return preview;
  }

  @Get('refunds')
  @ForOperators('operator:read', 'Refunds that match all that is given, newest first')
  list(@Query({ schema: refundQuery }) query: z.output<typeof refundQuery>): Promise<OperatorRefundPage> {
    const { limit, cursor, ...search } = query;
    return this.desk.list(search, { limit, cursor });
  }

  @Get('refunds/:id')
  @ForOperators('operator:read', 'A refund, with the state of its job')
  read(@Param('id') id: string): Promise<OperatorRefund> {
    return this.desk.read(id);
  }

  @Post('refunds')
  @HttpCode(202)
  @ForOperators('operator:refund', 'Refunds a payment to the payer that the chain shows, once per number', 'refund.ask')
  ask(
    @OperatorKey() caller: ApiKey,
    @Body({ schema: refundBody }) body: z.output<typeof refundBody>,
  ): Promise<OperatorRefund> {
    return this.desk.ask(caller, body);
  }

  @Post('refunds/:id/retry')
  @HttpCode(202)
  @ForOperators('operator:refund', 'Sends a refund again whose job has failed', 'refund.retry')
  retry(@OperatorKey() caller: ApiKey, @Param('id') id: string): Promise<OperatorRefund> {
    return this.desk.retry(caller, id);
  }

  @Post('refunds/:id/give-up')
  @HttpCode(200)
  @ForOperators('operator:refund', 'Ends a refund whose job has failed; the payment stays closed', 'refund.give_up')
  giveUp(@Param('id') id: string): Promise<OperatorRefund> {
    return this.desk.giveUp(id);
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
    return this.desk.markPaid(id, transaction.toLowerCase() as Hex);
  }
}
