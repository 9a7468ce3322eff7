import type { BookWriter } from '../posting/book-writer.js';
import { nameScope, type ChainScope } from './chain-scope.js';

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
