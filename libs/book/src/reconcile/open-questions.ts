import { assetName } from '../bookings/accounts.js';
import type { BookSeller } from '../bookings/describe-payment.js';
import type { Queryable } from '../database/database.js';
import { listRecipients, type ChainScope } from './chain-scope.js';
import type { Difference } from './differences.js';

/** A transaction with a transfer of an asset that no payment is booked for, or the other way round. */
export interface MoneyQuestion {
  readonly scope: ChainScope;
  readonly transaction: string;
}

/** Transactions of a chain of which chain and book do not say the same. */
export interface OpenQuestions {
  readonly ofMoney: readonly MoneyQuestion[];
  /** Hashes of our own transactions that the chain has not shown yet. */
  readonly ofGas: readonly string[];
}

/**
 * What only the transactions themselves can answer, of each asset the oldest first. Left out is what is younger than `beforeMs`, since
 * the event may be on its way, and transfers from before the book was complete, which have none.
 */
export async function readOpenQuestions(
  within: Queryable,
  chainId: number,
  scopes: readonly ChainScope[],
  range: QuestionRange,
): Promise<OpenQuestions> {
  const ofMoney: MoneyQuestion[] = [];
  for (const scope of scopes) ofMoney.push(...(await readMoneyQuestions(within, scope, range)));
  const gas = await within.query<{ hash: string }>(
    `SELECT hash FROM transactions WHERE state = 'reported' AND chain_id = $1 AND at < $2::timestamptz
      ORDER BY block_number LIMIT $3`,
    [chainId, new Date(range.beforeMs).toISOString(), range.limit],
  );
  return { ofMoney, ofGas: gas.map(({ hash }) => hash) };
}

interface QuestionRange {
  readonly beforeMs: number;
  readonly completeFromMs: number;
  /** Of each asset, and of gas. */
  readonly limit: number;
}

async function readMoneyQuestions(
  within: Queryable,
  scope: ChainScope,
  { beforeMs, completeFromMs, limit }: QuestionRange,
): Promise<MoneyQuestion[]> {
  const { chainId, asset, recipient } = scope;
  const rows = await within.query<{ transaction: string }>(
    `SELECT transaction FROM (
        SELECT transaction, seen_at AS since FROM chain_transfers
          WHERE payment IS NULL AND chain_id = $1 AND asset = $2 AND recipient = $3 AND (at IS NULL OR at >= $5)
        UNION ALL
        SELECT transaction, since FROM unreconciled_payments WHERE chain_id = $1 AND asset = $2 AND recipient = $3
      ) AS open WHERE since < $4::timestamptz GROUP BY transaction ORDER BY min(since) LIMIT $6`,
    [chainId, asset, recipient, new Date(beforeMs).toISOString(), new Date(completeFromMs).toISOString(), limit],
  );
  return rows.map(({ transaction }) => ({ scope, transaction }));
}

/** Payers' transfers from before the book was complete that no payment is booked for. Their events may be lost. */
export async function readLostTransfers(
  within: Queryable,
  scope: ChainScope,
  { seller, completeFromMs, limit }: { seller: BookSeller; completeFromMs: number; limit: number },
): Promise<Difference[]> {
  const { chainId, asset, recipient } = scope;
  const rows = await within.query<{ transaction: string; log_index: number; amount: string; at: Date }>(
    `SELECT transaction, log_index, amount::text, at FROM chain_transfers
      WHERE payment IS NULL AND chain_id = $1 AND asset = $2 AND recipient = $3 AND at < $4::timestamptz
        AND payer <> ALL($5::text[])
      ORDER BY at LIMIT $6`,
    [chainId, asset, recipient, new Date(completeFromMs).toISOString(), listRecipients(seller, scope), limit],
  );
  return rows.map(({ transaction, log_index: logIndex, amount, at }) => ({
    list: 'chain_only',
    subject: `log ${logIndex} of ${transaction}`,
    transaction,
    amount,
    asset: assetName(chainId, asset),
    atMs: at.getTime(),
    reason: 'before_the_book_was_complete',
  }));
}

/**
 * What is not compared yet: too young, or not deep enough in the chain.
 * @param completeFromMs earlier transfers are listed, and never compared; null while the book is not complete
 */
export async function countWaiting(
  within: Queryable,
  { chainId, asset, recipient }: ChainScope,
  completeFromMs: number | null,
): Promise<{ transfers: number; payments: number }> {
  const [row] = await within.query<{ transfers: number; payments: number }>(
    `SELECT (SELECT count(*) FROM chain_transfers
        WHERE payment IS NULL AND chain_id = $1 AND asset = $2 AND recipient = $3
          AND ($4::timestamptz IS NULL OR at IS NULL OR at >= $4)) AS transfers,
      (SELECT count(*) FROM unreconciled_payments WHERE chain_id = $1 AND asset = $2 AND recipient = $3) AS payments`,
    [chainId, asset, recipient, completeFromMs === null ? null : new Date(completeFromMs).toISOString()],
  );
  return row ?? { transfers: 0, payments: 0 };
}
