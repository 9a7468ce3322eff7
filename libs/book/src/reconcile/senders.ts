import type { Queryable } from '../database/database.js';
import type { BookWriter } from '../posting/book-writer.js';

/** An account of ours: every transaction before `nonce` is in the book, and was in this block or an earlier one. */
export interface KnownSender {
  readonly address: string;
  readonly nonce: number;
  readonly blockNumber: number;
}

/** The accounts that the book follows. */
export async function readSenders(within: Queryable, chainId: number): Promise<KnownSender[]> {
  const rows = await within.query<{ address: string; nonce: number; block_number: number }>(
    'SELECT address, nonce, block_number FROM senders WHERE chain_id = $1 ORDER BY address',
    [chainId],
  );
  return rows.map(({ block_number: blockNumber, ...row }) => ({ ...row, blockNumber }));
}

/** The accounts whose transactions were reported. */
export async function readReportedSenders(within: Queryable, chainId: number): Promise<string[]> {
  const rows = await within.query<{ sender: string }>(
    `SELECT DISTINCT sender FROM transactions WHERE chain_id = $1 AND state = 'reported'`,
    [chainId],
  );
  return rows.map(({ sender }) => sender);
}

/** Whether it is one of our accounts: the book follows it, or a transaction of it was reported. */
export async function isOwnAccount(within: Queryable, chainId: number, address: string): Promise<boolean> {
  const rows = await within.query(
    `SELECT FROM senders WHERE chain_id = $1 AND address = $2
      UNION ALL (SELECT FROM transactions WHERE chain_id = $1 AND sender = $2 LIMIT 1)`,
    [chainId, address],
  );
  return rows.length > 0;
}

export async function storeSender(
  writer: BookWriter,
  chainId: number,
  { address, nonce, blockNumber }: KnownSender,
): Promise<void> {
  await writer.write((within) =>
    within.query(
      `INSERT INTO senders (chain_id, address, nonce, block_number) VALUES ($1, $2, $3, $4)
        ON CONFLICT (chain_id, address) DO UPDATE SET nonce = excluded.nonce, block_number = excluded.block_number`,
      [chainId, address, nonce, blockNumber],
    ),
  );
}

/** The nonces from the sender's own up to a count, the first `limit` of them, whose transactions the book does not have. */
export async function readUnknownNonces(
  within: Queryable,
  chainId: number,
  { address, nonce }: KnownSender,
  { count, limit }: { count: number; limit: number },
): Promise<number[]> {
  const rows = await within.query<{ nonce: number }>(
    // By the gaps between known nonces: an account may have a billion of them before.
    `SELECT nonce FROM (
        SELECT lag(known, 1, $3::bigint - 1) OVER (ORDER BY known) + 1 AS first, known AS after
          FROM (SELECT nonce AS known FROM transactions WHERE chain_id = $1 AND sender = $2
              AND nonce >= $3 AND nonce < $4 AND state <> 'removed'
            UNION SELECT $4::bigint) AS nonces
      ) AS gaps, generate_series(first, least(after, first + $5) - 1) AS nonce
      WHERE first < after ORDER BY nonce LIMIT $5`,
    [chainId, address, nonce, count, limit],
  );
  return rows.map((row) => row.nonce);
}
