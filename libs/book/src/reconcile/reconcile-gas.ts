import type { NewBooking } from '../bookings/booking.js';
import { spend } from '../bookings/describe-bookings.js';
import type { Queryable } from '../database/database.js';

/** A transaction of ours, as its receipt shows it. Hashes and addresses are lower case, amounts wei. */
export interface OwnReceipt {
  readonly blockNumber: number;
  readonly atMs: number;
  readonly gasCost: bigint;
}

/** One that no event has reported. */
export interface UnreportedTransaction extends OwnReceipt {
  readonly chainId: number;
  readonly hash: string;
  readonly sender: string;
  readonly nonce: number;
  /** Native coin sent along; 0 if it reverted. */
  readonly value: bigint;
}

interface StoredTransaction {
  sender: string;
  nonce: number | null;
  kind: string;
  gas_cost: string | null;
  value: string | null;
}

/**
 * Compares the gas of a reported transaction with its receipt; null: no block has the transaction any more.
 * Returns the correction, if there is one.
 */
export async function reconcileGas(
  within: Queryable,
  { chainId, hash }: { chainId: number; hash: string },
  receipt: OwnReceipt | null,
): Promise<NewBooking | null> {
  const [stored] = await within.query<StoredTransaction>(
    `SELECT sender, nonce, kind, gas_cost::text, value::text FROM transactions
      WHERE chain_id = $1 AND hash = $2 AND state = 'reported'`,
    [chainId, hash],
  );
  if (stored === undefined) return null;
  const booked = BigInt(stored.gas_cost ?? '0');
  const value = BigInt(stored.value ?? '0');
  const cost = receipt?.gasCost ?? 0n;
  await within.query(
    `UPDATE transactions SET state = $3, gas_cost = $4::numeric, value = $5::numeric, block_number = coalesce($6, block_number)
      WHERE chain_id = $1 AND hash = $2`,
    [
      chainId,
      hash,
      receipt ? 'final' : 'removed',
      String(cost),
      receipt ? String(value) : '0',
      receipt?.blockNumber ?? null,
    ],
  );
  return bookCost({
    chainId,
    hash,
    sender: stored.sender,
    nonce: stored.nonce,
    gas: cost - booked,
    value: receipt ? 0n : -value,
    atMs: receipt?.atMs ?? Date.now(),
    kind: stored.gas_cost === null ? 'gas' : 'correction',
    isRemoved: receipt === null,
  });
}

/** Books a transaction that no event has reported. Null when the book has it meanwhile, or it cost nothing. */
export async function bookUnreported(within: Queryable, found: UnreportedTransaction): Promise<NewBooking | null> {
  const { chainId, hash, sender, nonce, blockNumber, gasCost, value, atMs } = found;
  const stored = await within.query(
    `INSERT INTO transactions (chain_id, hash, sender, kind, nonce, block_number, gas_cost, value, at, state)
      VALUES ($1, $2, $3, 'unreported', $4, $5, $6::numeric, $7::numeric, $8, 'final')
      ON CONFLICT (chain_id, hash) DO UPDATE SET state = 'final', nonce = excluded.nonce, gas_cost = excluded.gas_cost,
        value = excluded.value, block_number = excluded.block_number WHERE transactions.state = 'removed'
      RETURNING hash`,
    [chainId, hash, sender, nonce, blockNumber, String(gasCost), String(value), new Date(atMs).toISOString()],
  );
  if (stored.length === 0) return null;
  return bookCost({ chainId, hash, sender, nonce, value, atMs, gas: gasCost, kind: 'gas', isRemoved: false });
}

interface Cost {
  chainId: number;
  hash: string;
  sender: string;
  nonce: number | null;
  gas: bigint;
  value: bigint;
  kind: 'correction' | 'gas';
  atMs: number;
  isRemoved: boolean;
}

function bookCost({ chainId, hash, sender, nonce, gas, value, kind, atMs, isRemoved }: Cost): NewBooking | null {
  const lines = spend(chainId, sender, { gas, value });
  if (lines.length === 0) return null;
  return { kind, payment: null, atMs, facts: { transaction: hash, nonce, removed: isRemoved }, lines };
}
