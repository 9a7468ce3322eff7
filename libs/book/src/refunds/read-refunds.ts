import { parseCursor, writeCursor } from '../database/cursor.js';
import type { Queryable, SqlValue } from '../database/database.js';
import type { Refund, RefundState } from './refund.js';

type Times = 'askedAt' | 'changedAt' | 'attemptAt';
export type RefundRow = Omit<Refund, Times> & Record<Times, Date>;

export const REFUND_COLUMNS = `id, payment, number, state, amount::text, asked_amount::text AS "askedAmount", chain_id AS "chainId", asset,
  arrived_in AS "arrivedIn", recipient, permit,
  reason, answered, doubts, asked_by AS "askedBy", asked_at AS "askedAt", changed_at AS "changedAt", attempt,
  attempt_at AS "attemptAt", job, transaction, maybe_sent AS "maybeSent", detail,
  (SELECT route FROM payments WHERE payments.id = refunds.payment) AS route`;

export interface RefundSearch {
  readonly payment?: string | undefined;
  readonly state?: RefundState | undefined;
}

export interface RefundPage {
  readonly refunds: readonly Refund[];
  /** Continues after this page; null when it was the last. */
  readonly cursor: string | null;
}

/** Refunds, newest first. @throws RangeError for a cursor that is none */
export async function searchRefunds(
  within: Queryable,
  { payment, state }: RefundSearch,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<RefundPage> {
  const values: SqlValue[] = [];
  const parameter = (value: SqlValue): string => `$${values.push(value)}`;
  const conditions = [
    ...(payment === undefined ? [] : [`payment = lower(${parameter(payment)})`]),
    ...(state === undefined ? [] : [`state = ${parameter(state)}`]),
  ];
  if (cursor !== undefined) {
    const { at, id } = parseCursor(cursor);
    conditions.push(`(asked_at, id) < (${parameter(at)}::timestamptz, ${parameter(id)})`);
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const rows = await within.query<RefundRow>(
    `SELECT ${REFUND_COLUMNS} FROM refunds ${where} ORDER BY asked_at DESC, id DESC LIMIT ${parameter(limit + 1)}`,
    values,
  );
  const page = rows.slice(0, limit).map(toRefund);
  const last = page.at(-1);
  const next = rows.length > limit && last ? writeCursor({ at: last.askedAt, id: last.id }) : null;
  return { refunds: page, cursor: next };
}

/** Null when there is no such refund. */
export async function readRefund(within: Queryable, id: string): Promise<Refund | null> {
  const [row] = await within.query<RefundRow>(`SELECT ${REFUND_COLUMNS} FROM refunds WHERE id = $1`, [id]);
  return row === undefined ? null : toRefund(row);
}

/** All of a payment, by number. */
export async function listRefundsOf(within: Queryable, payment: string): Promise<Refund[]> {
  const rows = await within.query<RefundRow>(
    `SELECT ${REFUND_COLUMNS} FROM refunds WHERE payment = $1 ORDER BY number`,
    [payment],
  );
  return rows.map(toRefund);
}

/** Those that the bookkeeper has to bring to their end, oldest first. */
export async function listRefundsInWork(within: Queryable): Promise<Refund[]> {
  const rows = await within.query<RefundRow>(
    `SELECT ${REFUND_COLUMNS} FROM refunds WHERE state IN ('asked', 'closed', 'sending') ORDER BY asked_at, id`,
  );
  return rows.map(toRefund);
}

/** The others to the same payer that a job may have paid already, and of which the book does not know it. */
export async function listUnpaidRefunds(
  within: Queryable,
  { id, chainId, asset, recipient }: Refund,
): Promise<Refund[]> {
  const rows = await within.query<RefundRow>(
    `SELECT ${REFUND_COLUMNS} FROM refunds WHERE recipient = $1 AND state NOT IN ('refunded', 'refused')
      AND chain_id = $2 AND asset = $3 AND id <> $4 AND job IS NOT NULL ORDER BY asked_at, id`,
    [recipient, chainId, asset, id],
  );
  return rows.map(toRefund);
}

export function toRefund({ askedAt, changedAt, attemptAt, ...row }: RefundRow): Refund {
  const times = { askedAt: askedAt.toISOString(), changedAt: changedAt.toISOString() };
  return { ...row, ...times, attemptAt: attemptAt.toISOString() };
}
