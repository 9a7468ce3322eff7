import {
  RELEASED_STATES,
  type ArrivalPlace,
  type ArrivedTransfer,
  type HeldTransfer,
  type PaymentToRefund,
  type Refund,
  type RefundChange,
  type RefundedToday,
  type RefundRows,
  type RefundTerms,
  type TakenPart,
} from '@tollgate/refunds';

import type { Queryable, SqlValue } from '../database/database.js';
import { findBookedPayment } from '../reading/search-payments.js';

type Times = 'askedAt' | 'changedAt' | 'attemptAt';
type Row = Omit<Refund, Times> & Record<Times, Date>;

const COLUMNS = `id, payment, number, state, amount::text, asked_amount::text AS "askedAmount", chain_id AS "chainId", asset,
  arrived_in AS "arrivedIn", recipient, permit,
  reason, answered, doubts, asked_by AS "askedBy", asked_at AS "askedAt", changed_at AS "changedAt", attempt,
  attempt_at AS "attemptAt", job, transaction, maybe_sent AS "maybeSent", detail,
  (SELECT route FROM payments WHERE payments.id = refunds.payment) AS route`;

const HELD = 'log, arrived::text, taken::text';

/** The tables of refunds, one statement a method. */
export class SqlRefundRows implements RefundRows {
  constructor(protected readonly within: Queryable) {}

  async read(id: string): Promise<Refund | null> {
    const [refund] = await this.select('WHERE id = $1', [id]);
    return refund ?? null;
  }

  listOf(payment: string): Promise<Refund[]> {
    return this.select('WHERE payment = $1 ORDER BY number', [payment]);
  }

  findPayment(payment: string): Promise<PaymentToRefund | null> {
    return findBookedPayment(this.within, payment);
  }

  async findPaidBy(transaction: string, id: string): Promise<string | null> {
    const [taken] = await this.within.query<{ by: string }>(
      // The second: a book that was restored may have the event of a refund, and not the refund.
      `SELECT id AS by FROM refunds WHERE transaction = $1 AND id <> $2
        UNION ALL SELECT id FROM payments WHERE state = 'refunded' AND reported -> 'refunded' @> $3::jsonb
          AND NOT reported -> 'refunded' @> $4::jsonb`,
      [transaction, id, JSON.stringify([{ transaction }]), JSON.stringify([{ transaction, refund: id }])],
    );
    return taken?.by ?? null;
  }

  async readToday(
    { chainId, asset, recipient }: Pick<Refund, 'chainId' | 'asset' | 'recipient'>,
    keyId: string,
    except: string,
  ): Promise<RefundedToday> {
    const [row] = await this.within.query<Record<'day' | 'payer' | 'key', string>>(
      `SELECT coalesce(sum(amount), 0)::text AS day,
          coalesce(sum(amount) FILTER (WHERE recipient = $4), 0)::text AS payer,
          coalesce(sum(amount) FILTER (WHERE asked_by[cardinality(asked_by)] = $5), 0)::text AS key
        FROM refunds WHERE chain_id = $1 AND asset = $2 AND state <> ALL($3::text[]) AND id <> $6
          AND attempt_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`,
      [chainId, asset, RELEASED_STATES, recipient, keyId, except],
    );
    const { day = '0', payer = '0', key = '0' } = row ?? {};
    return { perDay: BigInt(day), perPayerAndDay: BigInt(payer), perKeyAndDay: BigInt(key) };
  }

  readTransfers({ chainId, arrivedIn }: ArrivalPlace, logs: readonly number[]): Promise<HeldTransfer[]> {
    return this.within.query<HeldTransfer>(
      `SELECT ${HELD} FROM refunded_transfers WHERE chain_id = $1 AND transaction = $2 AND log = ANY($3::bigint[])`,
      [chainId, arrivedIn, logs],
    );
  }

  noteTransfers({ chainId, arrivedIn }: ArrivalPlace, transfers: readonly ArrivedTransfer[]): Promise<HeldTransfer[]> {
    return this.within.query<HeldTransfer>(
      `INSERT INTO refunded_transfers AS known (chain_id, transaction, log, arrived, taken)
        SELECT $1, $2, log, arrived, 0 FROM jsonb_to_recordset($3::jsonb) AS t(log bigint, arrived numeric)
        ON CONFLICT (chain_id, transaction, log) DO UPDATE SET arrived = excluded.arrived
          WHERE known.taken <= excluded.arrived RETURNING ${HELD}`,
      [chainId, arrivedIn, JSON.stringify(transfers)],
    );
  }

  async addTaken({ chainId, arrivedIn }: ArrivalPlace, parts: readonly TakenPart[]): Promise<void> {
    await this.within.query(
      `UPDATE refunded_transfers AS known SET taken = known.taken + part.taken
        FROM jsonb_to_recordset($3::jsonb) AS part(log bigint, taken numeric)
        WHERE chain_id = $1 AND transaction = $2 AND known.log = part.log`,
      [chainId, arrivedIn, JSON.stringify(parts)],
    );
  }

  async readTakes(id: string): Promise<readonly TakenPart[]> {
    const [row] = await this.within.query<{ takes: TakenPart[] }>('SELECT takes FROM refunds WHERE id = $1', [id]);
    return row?.takes ?? [];
  }

  async insert(terms: RefundTerms, keyId: string, takes: readonly TakenPart[]): Promise<Refund> {
    const { id, payment, number, amount, chainId, asset, recipient, permit, reason, answered, doubts, arrivedIn } =
      terms;
    return this.#writeOne(
      `INSERT INTO refunds (id, payment, number, state, amount, chain_id, asset, recipient, reason, answered, doubts,
          asked_by, permit, arrived_in, takes, asked_at, changed_at, attempt_at, attempt)
        VALUES ($1, $2, $3, 'asked', $4::numeric, $5, $6, $7, $8, $9, $10::jsonb, ARRAY[$11], $12, $13, $14::jsonb,
          now(), now(), now(), 1)
        ON CONFLICT (id) DO UPDATE SET state = 'asked', amount = excluded.amount, recipient = excluded.recipient,
          permit = excluded.permit, reason = excluded.reason, answered = excluded.answered, doubts = excluded.doubts,
          asked_by = excluded.asked_by, arrived_in = excluded.arrived_in, takes = excluded.takes, asked_at = now(),
          changed_at = now(), attempt_at = now(), detail = NULL`,
      [
        ...[id, payment, number, amount, chainId, asset, recipient],
        ...[reason, answered, JSON.stringify(doubts), keyId, permit, arrivedIn, JSON.stringify(takes)],
      ],
    );
  }

  update(id: string, change: RefundChange): Promise<Refund> {
    const values: SqlValue[] = [id];
    const assignments = Object.entries(change).map(([name, value]) => {
      const column = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const isJson = column === 'doubts' || column === 'takes';
      return `${column} = $${values.push(isJson ? JSON.stringify(value) : (value as SqlValue))}`;
    });
    const times = ['changed_at = now()', ...(change.attempt === undefined ? [] : ['attempt_at = now()'])];
    return this.#writeOne(`UPDATE refunds SET ${[...times, ...assignments].join(', ')} WHERE id = $1`, values);
  }

  protected async select(condition: string, values: SqlValue[] = []): Promise<Refund[]> {
    const rows = await this.within.query<Row>(`SELECT ${COLUMNS} FROM refunds ${condition}`, values);
    return rows.map(toRefund);
  }

  async #writeOne(statement: string, values: SqlValue[]): Promise<Refund> {
    const [row] = await this.within.query<Row>(`${statement} RETURNING ${COLUMNS}`, values);
    if (row === undefined) throw new Error('the refund was not written');
    return toRefund(row);
  }
}

function toRefund({ askedAt, changedAt, attemptAt, ...row }: Row): Refund {
  const times = { askedAt: askedAt.toISOString(), changedAt: changedAt.toISOString() };
  return { ...row, ...times, attemptAt: attemptAt.toISOString() };
}
