import { BOOKED_STATES, OUTGOING_EVENT_TYPES, PAYMENT_ORDERS, SUMMARY_WINDOWS } from '@tollgate/book';
import { limitParameter, onlyFields, textParameter, wordsParameter } from '@tollgate/http';
import { REFUND_STATES } from '@tollgate/refunds';
import { z } from 'zod';

import { timeParameter } from './time-parameter.js';

const MONTHS = 'must be a whole number of months from 1 to 1200';

export const retentionBody = onlyFields({ months: z.int(MONTHS).min(1, MONTHS).max(1_200, MONTHS) });

const amount = textParameter.regex(/^(0|[1-9]\d{0,77})$/, 'must be base units, a whole number').optional();

export const paymentQuery = onlyFields({
  transaction: textParameter.optional(),
  payer: textParameter.optional(),
  reference: textParameter.optional().describe("The ledger's id of the payment."),
  requestId: textParameter.optional(),
  route: textParameter.optional(),
  option: textParameter
    .optional()
    .describe('The name of a payment option: payments in its token on its chain, whoever received them.'),
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
  minAmount: amount,
  maxAmount: amount,
  from: timeParameter.optional(),
  to: timeParameter.optional(),
  limit: limitParameter,
  cursor: z.string('must be given only once').max(600, 'is too long').optional(),
});

export const rangeQuery = onlyFields({ from: timeParameter.optional(), to: timeParameter.optional() });

export const exportQuery = onlyFields({
  ...rangeQuery.shape,
  format: z.enum(['csv', 'jsonl'], 'must be csv or jsonl').default('csv'),
});

export const summaryQuery = onlyFields({
  window: z.enum(SUMMARY_WINDOWS, `must be one of ${SUMMARY_WINDOWS.join(', ')}`).default('hour'),
});

export const auditQuery = onlyFields({
  limit: limitParameter,
  before: z
    .string('must be given only once')
    .regex(/^[1-9]\d{0,15}$/, 'must be the id of an act')
    .transform(Number)
    .optional(),
});

export const outgoingEventQuery = onlyFields({
  type: wordsParameter(OUTGOING_EVENT_TYPES)
    .optional()
    .describe(`One or more of ${OUTGOING_EVENT_TYPES.join(', ')}, separated by commas.`),
});

const DIGEST = 'must be the planDigest of the job: 64 hexadecimal digits';

export const approvalBody = onlyFields({
  plan: z
    .string(DIGEST)
    .regex(/^[0-9a-f]{64}$/, DIGEST)
    .describe('The `planDigest` of the plan that was reviewed.'),
});

const PAUSE_REASON = 'must be 1 to 200 characters';

export const pauseBody = onlyFields({
  reason: z.string(PAUSE_REASON).min(1, PAUSE_REASON).max(200, PAUSE_REASON).optional(),
}).optional();

export const fillBody = onlyFields({
  nonce: z.int().nonnegative().describe('The nonce of the `gap` that `GET /operator/wallets` shows.'),
  dryRun: z.boolean().optional().describe('Only says what a fill would cancel.'),
});

export const refundQuery = onlyFields({
  payment: textParameter.optional(),
  state: z.enum(REFUND_STATES, `must be one of ${REFUND_STATES.join(', ')}`).optional(),
  limit: limitParameter,
  cursor: textParameter.optional(),
});

const PAYMENT = "must be a payment's id, at most 300 characters";
const AMOUNT = 'must be base units, a whole number above 0, as text';
const REASON = 'must be 1 to 200 printable characters';
const NUMBER = 'must be a whole number from 1 to 1000';

export const refundBody = onlyFields({
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

export const paidBody = onlyFields({
  transaction: z
    .string(TRANSACTION)
    .regex(/^0x[0-9a-fA-F]{64}$/, TRANSACTION)
    .describe('The hash of the transaction that paid it.'),
});

const TYPES_WRONG = `must be a list of ${OUTGOING_EVENT_TYPES.join(', ')}; it may be left out`;
const URL_MISSING = 'must be the URL to which events are posted';

export const webhookBody = onlyFields({
  url: z.string(URL_MISSING).min(1, URL_MISSING).describe('An HTTPS URL on the public internet.'),
  events: z
    .array(z.enum(OUTGOING_EVENT_TYPES, TYPES_WRONG), TYPES_WRONG)
    .max(OUTGOING_EVENT_TYPES.length, TYPES_WRONG)
    .default([])
    .describe('All if left out.'),
});

export const limitQuery = onlyFields({ limit: limitParameter });
