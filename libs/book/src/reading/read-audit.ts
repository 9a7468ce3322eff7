import { z } from 'zod';

import type { Queryable } from '../database/database.js';

const listedAct = z.object({
  id: z.int(),
  at: z.string(),
  keyId: z.string(),
  action: z.string(),
  subject: z.string(),
  requestId: z.string(),
});

export const auditPage = z.object({
  acts: z.array(listedAct).readonly(),
  next: z.int().nullable().describe('`before` of the next page; null after the last.'),
});
export type AuditPage = z.output<typeof auditPage>;

/** The audit table, newest first. `before`: the id of the act that the page follows. */
export async function readAudit(
  within: Queryable,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<AuditPage> {
  const rows = await within.query<Omit<AuditPage['acts'][number], 'at'> & { at: Date }>(
    `SELECT id, at, key_id AS "keyId", action, subject, request_id AS "requestId" FROM audit
      WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`,
    [before ?? null, limit + 1],
  );
  const acts = rows.slice(0, limit).map(({ at, ...act }) => ({ ...act, at: at.toISOString() }));
  return { acts, next: rows.length > limit ? (acts.at(-1)?.id ?? null) : null };
}
