import type { Queryable } from '../database/database.js';
import type { ArrivedTransfer, Refund } from './refund.js';

/** What a refund takes of a transfer, by the place of its log in the transaction: base units. */
interface TakenPart {
  readonly log: number;
  readonly taken: string;
}

interface FreeTransfer {
  readonly log: number;
  readonly free: string;
}

type Arrival = Pick<Refund, 'chainId' | 'arrivedIn'>;

/** What refunds of any payment have taken of these transfers, or may still take: base units. */
export async function readTaken(
  within: Queryable,
  { chainId, arrivedIn }: Arrival,
  transfers: readonly ArrivedTransfer[],
): Promise<bigint> {
  const [row] = await within.query<{ taken: string }>(
    `SELECT coalesce(sum(taken), 0)::text AS taken FROM refunded_transfers
      WHERE chain_id = $1 AND transaction = $2 AND log = ANY($3::bigint[])`,
    [chainId, arrivedIn, transfers.map(({ log }) => log)],
  );
  return BigInt(row?.taken ?? '0');
}

/** Notes transfers as the chain shows them now. One that a reorganisation has made less than is taken of it has nothing free. */
const SHOW = `INSERT INTO refunded_transfers AS known (chain_id, transaction, log, arrived, taken)
  SELECT $1, $2, log, arrived, 0 FROM jsonb_to_recordset($3::jsonb) AS t(log bigint, arrived numeric)
  ON CONFLICT (chain_id, transaction, log) DO UPDATE SET arrived = excluded.arrived WHERE known.taken <= excluded.arrived
  RETURNING log, (arrived - taken)::text AS free`;

/** Adds `taken` of each part, which may be negative. */
const ADD = `UPDATE refunded_transfers AS known SET taken = known.taken + part.taken
  FROM jsonb_to_recordset($3::jsonb) AS part(log bigint, taken numeric)
  WHERE chain_id = $1 AND transaction = $2 AND known.log = part.log`;

/**
 * Takes an amount of transfers that the chain shows, in the transaction that writes the refund. Returns the parts, among
 * them those of 0; null: less is left.
 */
export async function takeTransfers(
  within: Queryable,
  { chainId, arrivedIn }: Arrival,
  transfers: readonly ArrivedTransfer[],
  amount: bigint,
): Promise<readonly TakenPart[] | null> {
  const shown = await within.query<FreeTransfer>(SHOW, [chainId, arrivedIn, JSON.stringify(transfers)]);
  const parts = share(shown, amount);
  if (parts !== null) await within.query(ADD, [chainId, arrivedIn, JSON.stringify(parts)]);
  return parts;
}

/** Gives back what a refund takes, when it has ended without paying. Once, however often it is called. */
export async function releaseTransfers(within: Queryable, id: string): Promise<void> {
  await retakeTransfers(within, id, 0n);
}

/**
 * Makes a refund take another amount of its transfers than it does, as when a transaction that a person has named paid
 * another one. False: other refunds leave less, and nothing is changed.
 */
export async function retakeTransfers(within: Queryable, id: string, amount: bigint): Promise<boolean> {
  const [held] = await within.query<Arrival & { takes: TakenPart[] }>(
    'SELECT chain_id AS "chainId", arrived_in AS "arrivedIn", takes FROM refunds WHERE id = $1',
    [id],
  );
  if (held === undefined) return false;
  const { chainId, arrivedIn, takes } = held;
  const own = new Map(takes.map(({ log, taken }) => [log, BigInt(taken)]));
  const rows = await within.query<FreeTransfer>(
    `SELECT log, (arrived - taken)::text AS free FROM refunded_transfers
      WHERE chain_id = $1 AND transaction = $2 AND log = ANY($3::bigint[])`,
    [chainId, arrivedIn, [...own.keys()]],
  );
  const free = rows.map((row) => ({ log: row.log, free: String(BigInt(row.free) + (own.get(row.log) ?? 0n)) }));
  const parts = share(free, amount);
  if (parts === null) return false;
  const changes = parts.map(({ log, taken }) => ({ log, taken: String(BigInt(taken) - (own.get(log) ?? 0n)) }));
  await within.query(ADD, [chainId, arrivedIn, JSON.stringify(changes)]);
  await within.query('UPDATE refunds SET takes = $2::jsonb WHERE id = $1', [id, JSON.stringify(parts)]);
  return true;
}

/** The first transfers give as much as they have. Null: all together have less. */
function share(transfers: readonly FreeTransfer[], amount: bigint): readonly TakenPart[] | null {
  let missing = amount;
  const inOrder = [...transfers].sort((one, other) => one.log - other.log);
  const parts = inOrder.map(({ log, free }): TakenPart => {
    const taken = missing < BigInt(free) ? missing : BigInt(free);
    missing -= taken;
    return { log, taken: String(taken) };
  });
  return missing === 0n ? parts : null;
}
