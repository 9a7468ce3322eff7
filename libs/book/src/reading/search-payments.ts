import { RELEASED_STATES } from '@tollgate/refunds';
import { z } from 'zod';

import type { BookedState } from '../bookings/booked-states.js';
import { listedPayment, type ListedPayment } from '../bookings/describe-payment.js';
import type { PaymentReports } from '../bookings/payment-record.js';
import { parseCursor, writeCursor } from '../database/cursor.js';
import type { Queryable, SqlValue } from '../database/database.js';

/** What to search for; a payment matches all that is given. */
export interface PaymentSearch {
  readonly transaction?: string | undefined;
  readonly payer?: string | undefined;
  /** The ledger's id of the payment. */
  readonly reference?: string | undefined;
  readonly requestId?: string | undefined;
  readonly route?: string | undefined;
  /** `<chainId>:<address>`, the address in lower case. */
  readonly token?: string | undefined;
  /** One of these. */
  readonly state?: readonly BookedState[] | undefined;
  /** Only those of which something is owed to the payer still. */
  readonly owed?: true | undefined;
  /** Not what is summed because each transfer was too small. */
  readonly withoutDust?: true | undefined;
  /** Base units. */
  readonly minAmount?: string | undefined;
  readonly maxAmount?: string | undefined;
  /** Milliseconds since 1970: from inclusive, to exclusive. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

export const PAYMENT_ORDERS = ['newest', 'oldest'] as const;
export type PaymentOrder = (typeof PAYMENT_ORDERS)[number];

export const paymentPage = z.object({
  payments: z.array(listedPayment).readonly(),
  cursor: z.string().nullable().describe('Continues after this page; null when it was the last.'),
});
export type PaymentPage = z.output<typeof paymentPage>;

const LISTED = `id, state, at, scheme, network, asset, payer, recipient, for_other AS "forOther", route,
  path, query, request_id AS "requestId", transaction, reason, amount::text, refunded::text,
  reported->'released'->>'reason' AS "releaseReason"`;

type Row = Omit<ListedPayment, 'at'> & { at: Date };

/** Payments, newest or oldest first. @throws RangeError for a cursor that is none */
export async function searchPayments(
  within: Queryable,
  search: PaymentSearch,
  { limit, order = 'newest', cursor }: { limit: number; order?: PaymentOrder | undefined; cursor?: string | undefined },
): Promise<PaymentPage> {
  const [after, direction] = order === 'newest' ? ['<', 'DESC'] : ['>', 'ASC'];
  const values: SqlValue[] = [];
  const parameter = (value: SqlValue): string => `$${values.push(value)}`;
  const conditions = Object.entries(CONDITIONS).flatMap(([name, toSql]) => {
    const value = search[name as keyof PaymentSearch];
    return value === undefined
      ? []
      : [toSql(parameter(typeof value === 'number' ? new Date(value).toISOString() : value))];
  });
  if (cursor !== undefined) {
    const { at, id } = parseCursor(cursor);
    conditions.push(`(at, id) ${after} (${parameter(at)}::timestamptz, ${parameter(id)})`);
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const rows = await within.query<Row>(
    `SELECT ${LISTED} FROM payments ${where} ORDER BY at ${direction}, id ${direction} LIMIT ${parameter(limit + 1)}`,
    values,
  );
  const page = rows.slice(0, limit).map(toListed);
  const last = page.at(-1);
  return { payments: page, cursor: rows.length > limit && last ? writeCursor(last) : null };
}

/** It bought no answer, was not paid back whole (an unknown amount counts), and is no other seller's. */
const UNANSWERED = `NOT reported ? 'answered' AND amount IS DISTINCT FROM refunded AND NOT for_other`;
const OWED = `state IN ('refused', 'released', 'unclaimed', 'refunding', 'refunded') AND ${UNANSWERED}`;

const CONDITIONS: { readonly [Name in keyof PaymentSearch]-?: (parameter: string) => string } = {
  transaction: (value) => `transaction = lower(${value})`,
  payer: (value) => `payer = lower(${value})`,
  reference: (value) => `id = lower(${value})`,
  requestId: (value) => `request_id = ${value}`,
  route: (value) => `route = ${value}`,
  token: (value) => `chain_id::text || ':' || asset = ${value}`,
  state: (value) => `state = ANY(${value}::text[])`,
  owed: (value) => `${value}::boolean AND ${OWED}`,
  withoutDust: (value) => `${value}::boolean AND NOT starts_with(id, 'dust:')`,
  minAmount: (value) => `amount >= ${value}::numeric`,
  maxAmount: (value) => `amount <= ${value}::numeric`,
  fromMs: (value) => `at >= ${value}::timestamptz`,
  toMs: (value) => `at < ${value}::timestamptz`,
};

/** One payment, with what the events said of it; null when the book does not know it. */
export async function findBookedPayment(
  within: Queryable,
  id: string,
): Promise<(ListedPayment & { reported: PaymentReports }) | null> {
  const [row] = await within.query<Row & { reported: PaymentReports }>(
    `SELECT ${LISTED}, reported FROM payments WHERE id = $1`,
    [id],
  );
  return row === undefined ? null : toListed(row);
}

/**
 * Payments that were closed for refunds of which none is open, and of which something is owed still. The first conditions are
 * those of the index `payments_left_over`, and of no other.
 */
export async function countLeftOver(within: Queryable): Promise<number> {
  const [row] = await within.query<{ count: number }>(
    `SELECT count(*) AS count FROM payments
      WHERE state || '' IN ('refunding', 'refunded') AND ${UNANSWERED} AND coalesce(amount > (
        SELECT coalesce(sum(refunds.amount), 0) FROM refunds WHERE payment = payments.id AND refunds.state <> ALL($1::text[])
      ), true) AND NOT EXISTS (
        SELECT FROM refunds WHERE payment = payments.id AND refunds.state IN ('asked', 'closed', 'sending', 'failed'))`,
    [RELEASED_STATES],
  );
  return row?.count ?? 0;
}

function toListed<T extends Row>({ at, ...row }: T): Omit<T, 'at'> & { at: string } {
  return { ...row, at: at.toISOString() };
}
