import { z } from 'zod';

import type { AcceptedToken, BookSeller } from '../bookings/describe-payment.js';
import type { Queryable } from '../database/database.js';

/** What is compared: one asset that arrives at one recipient. Addresses are lower case. */
export const chainScope = z.object({ chainId: z.int(), asset: z.string(), recipient: z.string() });
export type ChainScope = AcceptedToken;

/** How far the chain has been read. */
export interface ChainPosition {
  /** Earlier transfers are not compared. */
  readonly firstBlock: number;
  readonly nextBlock: number;
  /** Time of the newest block that was read; null before the first. */
  readonly readUntilMs: number | null;
}

/** A block whose hash is known, at which a page of transfers ended. */
export interface ChainAnchor {
  readonly number: number;
  readonly hash: string;
}

/** The seller's accounts for the token, on its chain. What one of them moves to another has not arrived anew. */
export function listRecipients(seller: BookSeller, { chainId, asset }: ChainScope): string[] {
  return seller.filter((one) => one.chainId === chainId && one.asset === asset).map(({ recipient }) => recipient);
}

export const nameScope = ({ chainId, asset, recipient }: ChainScope): string => `${chainId}:${recipient}:${asset}`;

/** Null before the first block was chosen. */
export async function readChainPosition(within: Queryable, scope: ChainScope): Promise<ChainPosition | null> {
  const [row] = await within.query<{ first_block: number; next_block: number; read_until: Date | null }>(
    'SELECT first_block, next_block, read_until FROM chain_positions WHERE scope = $1',
    [nameScope(scope)],
  );
  if (row === undefined) return null;
  return { firstBlock: row.first_block, nextBlock: row.next_block, readUntilMs: row.read_until?.getTime() ?? null };
}

/** Newest first. */
export function readAnchors(within: Queryable, scope: ChainScope): Promise<ChainAnchor[]> {
  return within.query<ChainAnchor>('SELECT number, hash FROM chain_blocks WHERE scope = $1 ORDER BY number DESC', [
    nameScope(scope),
  ]);
}

/**
 * Since when every change of money on a chain is in the book; null while none is reported. A book that was restored from a copy, is
 * new or has lost transactions may lack what was booked before, as after a loss of Redis.
 */
export async function readCompleteFrom(within: Queryable, chainId: number): Promise<number | null> {
  const [row] = await within.query<{ at: Date }>(
    'SELECT greatest(at, (SELECT max(until) FROM gaps)) AS at FROM complete_from WHERE chain_id = $1',
    [chainId],
  );
  return row?.at.getTime() ?? null;
}

/** Until when the book may lack what was booked, and which refunds were made; null: it has no gap. */
export async function readGapEnd(within: Queryable): Promise<number | null> {
  const [row] = await within.query<{ at: Date | null }>('SELECT max(until) AS at FROM gaps');
  return row?.at?.getTime() ?? null;
}
