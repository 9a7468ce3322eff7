import type { Queryable } from '../database/database.js';
import type { BookWriter } from '../posting/book-writer.js';
import { listRefundsOf, REFUND_COLUMNS, toRefund, type RefundRow } from './read-refunds.js';
import type { Refund, RefundState } from './refund.js';
import { retakeTransfers } from './take-transfers.js';
import { sumOfRefunds } from './write-refunds.js';

/** The transaction is another refund's, or a refund of another payment. */
interface Taken {
  readonly outcome: 'taken';
  readonly by: string;
}

export type NamedTransaction =
  | { outcome: 'named'; refund: Refund }
  /** It has neither failed nor been given up, or was retried since it was read. */
  | { outcome: 'changed' }
  /** Other refunds of the payment took so much, or may still take it, that less than this amount is left. */
  | { outcome: 'exceeds' }
  | Taken;

const NAMED_FROM: readonly RefundState[] = ['failed', 'given_up'];

/**
 * Names the transaction that paid a refund whose job is no longer stored: it is reported and booked next, with what the
 * transaction paid.
 * @throws DeposedError, BookUnavailableError
 */
export function nameTransaction(
  writer: BookWriter,
  { id, attempt, payment }: Pick<Refund, 'id' | 'attempt' | 'payment'>,
  { transaction, amount }: { transaction: string; amount: bigint },
): Promise<NamedTransaction> {
  return writer.write(async (within): Promise<NamedTransaction> => {
    const by = await findRefundPaidBy(within, transaction, id);
    if (by !== null) return { outcome: 'taken', by };
    const refunds = await listRefundsOf(within, payment);
    const own = refunds.find((refund) => refund.id === id);
    if (own?.attempt !== attempt || !NAMED_FROM.includes(own.state)) return { outcome: 'changed' };
    const others = refunds.filter((refund) => refund !== own);
    // The database would refuse the event of what is paid back beyond what arrived, and the refund would not be booked.
    if (amount > (await readUntaken(within, payment, others))) return { outcome: 'exceeds' };
    if (!(await retakeTransfers(within, id, amount))) return { outcome: 'exceeds' };
    const [row] = await within.query<RefundRow>(
      `UPDATE refunds SET state = 'sending', transaction = $2, amount = $3::numeric,
          asked_amount = coalesce(asked_amount, nullif(amount, $3::numeric)), detail = NULL, changed_at = now()
        WHERE id = $1 RETURNING ${REFUND_COLUMNS}`,
      [id, transaction, String(amount)],
    );
    return row === undefined ? { outcome: 'changed' } : { outcome: 'named', refund: toRefund(row) };
  });
}

/**
 * Notes the transaction of a refund's job before it is reported, so that it cannot be another refund's from then on.
 * Null: the refund is no longer sending.
 * @throws DeposedError, BookUnavailableError
 */
export function takeTransaction(
  writer: BookWriter,
  { id, attempt }: Pick<Refund, 'id' | 'attempt'>,
  transaction: string,
): Promise<{ outcome: 'noted'; refund: Refund } | Taken | null> {
  return writer.write(async (within) => {
    const by = await findRefundPaidBy(within, transaction, id);
    if (by !== null) return { outcome: 'taken', by } as const;
    const [row] = await within.query<RefundRow>(
      `UPDATE refunds SET transaction = $3
        WHERE id = $1 AND attempt = $2 AND state = 'sending' RETURNING ${REFUND_COLUMNS}`,
      [id, attempt, transaction],
    );
    return row === undefined ? null : ({ outcome: 'noted', refund: toRefund(row) } as const);
  });
}

/**
 * The other refund that a transaction paid, as the book has it, or the payment of a refund that the book has lost; null:
 * none.
 */
export async function findRefundPaidBy(within: Queryable, transaction: string, id: string): Promise<string | null> {
  const [taken] = await within.query<{ by: string }>(
    // The second: a book that was restored may have the event of a refund, and not the refund.
    `SELECT id AS by FROM refunds WHERE transaction = $1 AND id <> $2
      UNION ALL SELECT id FROM payments WHERE state = 'refunded' AND reported -> 'refunded' @> $3::jsonb
        AND NOT reported -> 'refunded' @> $4::jsonb`,
    [transaction, id, JSON.stringify([{ transaction }]), JSON.stringify([{ transaction, refund: id }])],
  );
  return taken?.by ?? null;
}

/** What arrived and no other refund has, in base units. */
async function readUntaken(within: Queryable, payment: string, others: readonly Refund[]): Promise<bigint> {
  const [row] = await within.query<{ amount: string | null; refunded: string }>(
    'SELECT amount::text, refunded::text FROM payments WHERE id = $1',
    [payment],
  );
  return BigInt(row?.amount ?? '0') - sumOfRefunds(others, row?.refunded ?? '0');
}
