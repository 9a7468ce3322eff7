import type { Hex } from '@tollgate/protocol';
import type { BookTimes, Refund, RefundBook, RefundPage, RefundRows, RefundSearch } from '@tollgate/refunds';

import { parseCursor, writeCursor } from '../database/cursor.js';
import type { SqlValue } from '../database/database.js';
import type { BookWriter } from '../posting/book-writer.js';
import { readPaidBack } from '../reading/read-payment.js';
import { hasUnapplied } from '../reading/read-unapplied.js';
import { readCompleteFrom, readGapEnd } from '../reconcile/chain-scope.js';
import { hasDifference } from '../reconcile/differences.js';
import { isOwnAccount } from '../reconcile/senders.js';
import { SqlRefundRows } from './refund-rows.js';

/** What `libs/refunds` reads and writes of the book. */
export class SqlRefundBook extends SqlRefundRows implements RefundBook {
  constructor(private readonly writer: BookWriter) {
    super(writer.database);
  }

  write<T>(work: (rows: RefundRows) => Promise<T>): Promise<T> {
    return this.writer.write((within) => work(new SqlRefundRows(within)));
  }

  async search(
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
    const found = await this.select(`${where} ORDER BY asked_at DESC, id DESC LIMIT ${parameter(limit + 1)}`, values);
    const refunds = found.slice(0, limit);
    const last = refunds.at(-1);
    const next = found.length > limit && last ? writeCursor({ at: last.askedAt, id: last.id }) : null;
    return { refunds, cursor: next };
  }

  listInWork(): Promise<Refund[]> {
    return this.select("WHERE state IN ('asked', 'closed', 'sending') ORDER BY asked_at, id");
  }

  listUnpaid({ id, chainId, asset, recipient }: Refund): Promise<Refund[]> {
    return this.select(
      `WHERE recipient = $1 AND state NOT IN ('refunded', 'refused') AND chain_id = $2 AND asset = $3 AND id <> $4
        AND job IS NOT NULL ORDER BY asked_at, id`,
      [recipient, chainId, asset, id],
    );
  }

  async readTimes(chainId: number): Promise<BookTimes> {
    const reading = [readCompleteFrom(this.within, chainId), readGapEnd(this.within)] as const;
    const [completeFromMs, gapEndMs] = await Promise.all(reading);
    return { completeFromMs, gapEndMs };
  }

  readonly readPaidBack = (payment: string) => readPaidBack(this.within, payment);
  readonly hasUnapplied = (payment: string, transaction: string | null) =>
    hasUnapplied(this.within, payment, transaction);
  readonly hasDifference = (transaction: string) => hasDifference(this.within, transaction);
  readonly isOwnAccount = (chainId: number, address: Hex) => isOwnAccount(this.within, chainId, address);
}
