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
const MATCHED_AT_ONCE = 5_000;

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

/** Stores transfers that are not stored yet, each with the payment that is booked for it. */
export async function storeTransfers(
  within: Queryable,
  scope: ChainScope,
  transfers: readonly ShownTransfer[],
): Promise<void> {
  const { chainId, asset, recipient } = scope;
  const hashes = [...new Set(transfers.map(({ transaction }) => transaction))];
  if (hashes.length === 0) return;
  const known = await within.query<{ transaction: string; log_index: number }>(
    'SELECT transaction, log_index FROM chain_transfers WHERE chain_id = $1 AND transaction = ANY($2::text[])',
    [chainId, hashes],
  );
  const isKnown = new Set(known.map(({ transaction, log_index: logIndex }) => `${transaction} ${logIndex}`));
  const added = transfers.filter(({ transaction, logIndex }) => !isKnown.has(`${transaction} ${logIndex}`));
  const paymentOf = pair(added, await readExpected(within, scope, hashes));
  const rows = added.map((transfer) => ({
    transaction: transfer.transaction,
    payer: transfer.payer,
    amount: transfer.amount,
    log_index: transfer.logIndex,
    block_number: transfer.blockNumber,
    payment: paymentOf.get(transfer) ?? null,
    at: transfer.atMs === null ? null : new Date(transfer.atMs),
  }));
  await within.query(
    `INSERT INTO chain_transfers (chain_id, transaction, log_index, block_number, asset, payer, recipient, amount, at, payment)
      SELECT $2, transaction, log_index, block_number, $3, payer, $4, amount, at, payment
        FROM jsonb_to_recordset($1::jsonb) AS t(transaction text, payer text, amount numeric, log_index bigint,
          block_number bigint, at timestamptz, payment text)`,
    [JSON.stringify(rows), chainId, asset, recipient],
  );
  await forgetExpected(within, [...paymentOf.values()]);
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
export async function matchTransfers(within: Queryable, scope: ChainScope): Promise<void> {
  const { chainId, asset, recipient } = scope;
  const rows = await within.query<OpenTransfer>(
    `SELECT transaction, log_index AS "logIndex", payer, amount::text FROM chain_transfers
      WHERE payment IS NULL AND chain_id = $1 AND asset = $2 AND recipient = $3
        AND transaction IN (SELECT transaction FROM unreconciled_payments) ORDER BY transaction, log_index LIMIT $4`,
    [chainId, asset, recipient, MATCHED_AT_ONCE],
  );
  if (rows.length === 0) return;
  const hashes = [...new Set(rows.map(({ transaction }) => transaction))];
  const paymentOf = pair(rows, await readExpected(within, scope, hashes));
  const matched = [...paymentOf].map(([{ transaction, logIndex }, payment]) => ({ transaction, logIndex, payment }));
  await within.query(
    `UPDATE chain_transfers SET payment = matched.payment
      FROM jsonb_to_recordset($1::jsonb) AS matched(transaction text, "logIndex" bigint, payment text)
      WHERE chain_id = $2 AND chain_transfers.transaction = matched.transaction AND log_index = "logIndex"`,
    [JSON.stringify(matched), chainId],
  );
  await forgetExpected(within, [...paymentOf.values()]);
}

type OpenTransfer = Pick<ShownTransfer, 'transaction' | 'logIndex' | 'payer' | 'amount'>;

/** A payment whose transfer the chain has not shown. */
export interface ExpectedPayment {
  id: string;
  transaction: string;
  payer: string;
  amount: string;
  since: Date;
}

const nameKind = ({ transaction, payer, amount }: OpenTransfer | ExpectedPayment): string =>
  `${transaction} ${payer} ${amount}`;

/** Transfers and payments of one transaction, payer and amount belong together in their order. */
function pair<T extends OpenTransfer>(transfers: readonly T[], expected: readonly ExpectedPayment[]): Map<T, string> {
  const waiting = new Map<string, ExpectedPayment[]>();
  for (const payment of expected) {
    const alike = waiting.get(nameKind(payment));
    if (alike) alike.push(payment);
    else waiting.set(nameKind(payment), [payment]);
  }
  const paymentOf = new Map<T, string>();
  for (const transfer of transfers) {
    const payment = waiting.get(nameKind(transfer))?.shift();
    if (payment !== undefined) paymentOf.set(transfer, payment.id);
  }
  return paymentOf;
}

export function readExpected(
  within: Queryable,
  { chainId, asset, recipient }: ChainScope,
  hashes: readonly string[],
): Promise<ExpectedPayment[]> {
  return within.query<ExpectedPayment>(
    `SELECT id, transaction, payer, amount::text, since FROM unreconciled_payments
      WHERE chain_id = $1 AND asset = $2 AND recipient = $3 AND transaction = ANY($4::text[]) ORDER BY id`,
    [chainId, asset, recipient, hashes],
  );
}

async function forgetExpected(within: Queryable, ids: readonly string[]): Promise<void> {
  await within.query('DELETE FROM unreconciled_payments WHERE id = ANY($1::text[])', [ids]);
}

/**
 * Forgets what the chain showed from a block on, because other blocks are in their place: it is read again. What is
 * booked stays until the chain has shown what became of it.
 * @throws DeposedError, BookUnavailableError
 */
export async function rewind(writer: BookWriter, scope: ChainScope, toBlock: number): Promise<void> {
  const { chainId, asset, recipient } = scope;
  const ofScope = 'chain_id = $1 AND asset = $2 AND recipient = $3 AND block_number >= $4';
  const values = [chainId, asset, recipient, toBlock];
  await writer.write(async (within) => {
    await within.query(
      `INSERT INTO unreconciled_payments (id, chain_id, transaction, asset, payer, recipient, amount)
        SELECT id, chain_id, transaction, asset, coalesce(payer, ''), recipient, amount FROM payments
        WHERE amount > 0 AND id IN (SELECT payment FROM chain_transfers WHERE ${ofScope}) ON CONFLICT DO NOTHING`,
      values,
    );
    await within.query(`DELETE FROM chain_transfers WHERE ${ofScope}`, values);
    await within.query(
      `UPDATE senders SET nonce = least(nonce, (SELECT min(nonce) FROM transactions
          WHERE chain_id = senders.chain_id AND sender = address AND block_number >= $2)), block_number = $2 - 1
        WHERE chain_id = $1 AND block_number >= $2`,
      [chainId, toBlock],
    );
    await within.query(
      `UPDATE transactions SET state = 'reported' WHERE state = 'final' AND chain_id = $1 AND block_number >= $2`,
      [chainId, toBlock],
    );
    await within.query('DELETE FROM chain_blocks WHERE scope = $1 AND number >= $2', [nameScope(scope), toBlock]);
    await within.query('UPDATE chain_positions SET next_block = $2 WHERE scope = $1', [nameScope(scope), toBlock]);
  });
}
