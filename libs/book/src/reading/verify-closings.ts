import { parseClosing, signerOf, type ClosingContent } from '../closing/closing.js';
import { merkleRoot } from '../closing/merkle.js';
import type { Queryable } from '../database/database.js';

interface ClosingRow {
  number: number;
  content: string;
  hash: string;
  signature: string;
}

/** Checks each closing's signature, its place after the one before it, and its root against the bookings. */
export async function verifyClosings(
  within: Queryable,
  signers: readonly string[],
): Promise<{ closings: number; broken: string | null }> {
  const rows = await within.query<ClosingRow>('SELECT number, content, hash, signature FROM closings ORDER BY number');
  let before = { number: 0, hash: null as string | null, lastBooking: 0 };
  for (const row of rows) {
    const content = parseClosing(JSON.parse(row.content));
    if (content === null) return { closings: before.number, broken: `Closing ${row.number}: it cannot be read.` };
    const broken =
      findFault(row, content, signers) ?? findLinkFault(content, before) ?? (await findRootFault(within, content));
    if (broken !== null) return { closings: before.number, broken: `Closing ${row.number}: ${broken}.` };
    before = { number: row.number, hash: row.hash, lastBooking: content.lastBooking };
  }
  return { closings: rows.length, broken: null };
}

function findFault(
  { hash, signature }: ClosingRow,
  content: ClosingContent,
  signers: readonly string[],
): string | null {
  const signer = signerOf({ content, hash, signature });
  if (signer === null) return 'its signature does not fit its content';
  if (signers.length === 0 || signers.includes(signer)) return null;
  return `it was signed by ${signer}, which is not a key of this book`;
}

function findLinkFault(
  content: ClosingContent,
  before: { number: number; hash: string | null; lastBooking: number },
): string | null {
  if (content.number !== before.number + 1) return `closing ${before.number + 1} is missing`;
  if (content.previous !== before.hash) return 'it does not follow the closing before it';
  const first = before.lastBooking + 1;
  return content.firstBooking === first ? null : `it does not begin with booking ${first}`;
}

async function findRootFault(
  within: Queryable,
  { firstBooking, lastBooking, root, chainHash }: ClosingContent,
): Promise<string | null> {
  const rows = await within.query<{ content_hash: string; chain_hash: string }>(
    'SELECT content_hash, chain_hash FROM bookings WHERE id BETWEEN $1 AND $2 ORDER BY id',
    [firstBooking, lastBooking],
  );
  const found = merkleRoot(rows.map(({ content_hash: hash }) => hash));
  if (found === root && rows.at(-1)?.chain_hash === chainHash) return null;
  return `bookings ${firstBooking} to ${lastBooking} are not those that were signed`;
}
