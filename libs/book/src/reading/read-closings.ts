import type { ClosingContent, SignedClosing } from '../closing/closing.js';
import type { Queryable } from '../database/database.js';

/** The closings, newest first. */
export async function readClosings(within: Queryable, limit: number): Promise<SignedClosing[]> {
  const rows = await within.query<Omit<SignedClosing, 'content'> & { content: string }>(
    'SELECT content, hash, signer, signature FROM closings ORDER BY number DESC LIMIT $1',
    [limit],
  );
  return rows.map(({ content, ...row }) => ({ ...row, content: JSON.parse(content) as ClosingContent }));
}
