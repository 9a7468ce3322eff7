import type { Queryable } from '../database/database.js';
import type { BookWriter } from '../posting/book-writer.js';
import { nameScope, type ChainAnchor, type ChainScope } from './chain-scope.js';

/** A transfer to the recipient, as its log shows it. Hashes and addresses are lower case. */
export interface ShownTransfer {
  readonly transaction: string;
  /** In its block. */
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly payer: string;
  /** Base units, more than 0. */
  readonly amount: string;
  /** Milliseconds since 1970; null where it is not known. */
  readonly atMs: number | null;
}

/** All transfers up to a block. */
export interface ShownPage {
  readonly transfers: readonly ShownTransfer[];
  readonly end: ChainAnchor;
  readonly endAtMs: number;
}

const ANCHORS_KEPT = 200;
const ROWS_AT_ONCE = 5_000;

/** Chooses the first block that is compared. */
export async function beginAt(writer: BookWriter, scope: ChainScope, firstBlock: number): Promise<void> {
  await writer.write((within) =>
    within.query(
      'INSERT INTO chain_positions (scope, first_block, next_block) VALUES ($1, $2, $2) ON CONFLICT DO NOTHING',
      [nameScope(scope), firstBlock],
    ),
  );
}

/** Adds a page and moves the position behind it. @throws DeposedError, BookUnavailableError */
export async function storePage(writer: BookWriter, scope: ChainScope, page: ShownPage): Promise<void> {
  await writer.write(async (within) => {
    for (let at = 0; at < page.transfers.length; at += ROWS_AT_ONCE) {
      await storeTransfers(within, scope, page.transfers.slice(at, at + ROWS_AT_ONCE));
    }
    const { number, hash } = page.end;
    const name = nameScope(scope);
    await within.query(`UPDATE chain_positions SET next_block = $2 + 1, read_until = $3 WHERE scope = $1`, [
      name,
      number,
      new Date(page.endAtMs).toISOString(),
    ]);
    await within.query('INSERT INTO chain_blocks (scope, number, hash) VALUES ($1, $2, $3)', [name, number, hash]);
    await within.query(
      `DELETE FROM chain_blocks WHERE scope = $1 AND number <=
        (SELECT number FROM chain_blocks WHERE scope = $1 ORDER BY number DESC OFFSET $2 LIMIT 1)`,
      [name, ANCHORS_KEPT],
    );
  });
}

/**
 * Stores transfers that are not stored yet, each with the payment that is booked for it. Within a transaction, transfers
 * and payments of the same payer and amount belong together in their order.
 */
export async function storeTransfers(
  within: Queryable,
  { chainId, asset, recipient }: ChainScope,
  transfers: readonly ShownTransfer[],
): Promise<void> {
  if (transfers.length === 0) return;
  const rows = transfers.map(({ transaction, logIndex, blockNumber, payer, amount, atMs }) => ({
    ...{ transaction, payer, amount, log_index: logIndex, block_number: blockNumber },
    at: atMs === null ? null : new Date(atMs),
  }));
  await within.query(
    `WITH shown AS (
      SELECT *, row_number() OVER (PARTITION BY transaction, payer, amount ORDER BY log_index) AS place
      FROM jsonb_to_recordset($1::jsonb) AS t(transaction text, payer text, amount numeric, log_index bigint,
        block_number bigint, at timestamptz)
      WHERE NOT EXISTS (SELECT FROM chain_transfers known
        WHERE known.chain_id = $2 AND known.transaction = t.transaction AND known.log_index = t.log_index)
    ), expected AS (
      SELECT id, transaction, payer, amount,
        row_number() OVER (PARTITION BY transaction, payer, amount ORDER BY id) AS place
      FROM unreconciled_payments
      WHERE chain_id = $2 AND asset = $3 AND recipient = $4 AND transaction IN (SELECT transaction FROM shown)
    ), stored AS (
      INSERT INTO chain_transfers (chain_id, transaction, log_index, block_number, asset, payer, recipient, amount, at, payment)
        SELECT $2, transaction, log_index, block_number, $3, payer, $4, amount, at, id
        FROM shown LEFT JOIN expected USING (transaction, payer, amount, place)
      RETURNING payment
    )
    DELETE FROM unreconciled_payments USING stored WHERE id = payment`,
    [JSON.stringify(rows), chainId, asset, recipient],
  );
  // A relayer's transaction that settles in the block that was reported needs no receipt.
  await within.query(
    `UPDATE transactions SET state = 'final' FROM (
        SELECT DISTINCT transaction, block_number FROM jsonb_to_recordset($1::jsonb)
          AS t(transaction text, block_number bigint)) shown
      WHERE state = 'reported' AND chain_id = $2 AND hash = transaction
        AND transactions.block_number = shown.block_number AND gas_cost IS NOT NULL`,
    [JSON.stringify(rows), chainId],
  );
}

/** Brings together what came one after the other: transfers that were stored before the event of their payment. */
export async function matchTransfers(within: Queryable, { chainId, asset, recipient }: ChainScope): Promise<void> {
  await within.query(
    `WITH shown AS (
      SELECT chain_id, transaction, log_index, payer, amount,
        row_number() OVER (PARTITION BY transaction, payer, amount ORDER BY log_index) AS place
      FROM chain_transfers
      WHERE payment IS NULL AND chain_id = $1 AND asset = $2 AND recipient = $3
        AND transaction IN (SELECT transaction FROM unreconciled_payments)
    ), expected AS (
      SELECT id, transaction, payer, amount,
        row_number() OVER (PARTITION BY transaction, payer, amount ORDER BY id) AS place
      FROM unreconciled_payments
      WHERE chain_id = $1 AND asset = $2 AND recipient = $3 AND transaction IN (SELECT transaction FROM shown)
    ), stored AS (
      UPDATE chain_transfers known SET payment = id
        FROM shown JOIN expected USING (transaction, payer, amount, place)
        WHERE known.chain_id = shown.chain_id AND known.transaction = shown.transaction
          AND known.log_index = shown.log_index
      RETURNING payment
    )
    DELETE FROM unreconciled_payments USING stored WHERE id = payment`,
    [chainId, asset, recipient],
  );
}
