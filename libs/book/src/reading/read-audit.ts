import type { Queryable } from '../database/database.js';
import type { OperatorAct } from '../posting/record-act.js';

interface ListedAct extends Omit<OperatorAct, 'details'> {
  readonly id: number;
  readonly at: string;
}

export interface AuditPage {
  readonly acts: readonly ListedAct[];
  /** `before` of the next page; null after the last. */
  readonly next: number | null;
}

/** The audit table, newest first. `before`: the id of the act that the page follows. */
export async function readAudit(
  within: Queryable,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<AuditPage> {
  const rows = await within.query<Omit<ListedAct, 'at'> & { at: Date }>(
    `SELECT id, at, key_id AS "keyId", action, subject, request_id AS "requestId" FROM audit
      WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`,
    [before ?? null, limit + 1],
  );
  const acts = rows.slice(0, limit).map(({ at, ...act }) => ({ ...act, at: at.toISOString() }));
  return { acts, next: rows.length > limit ? (acts.at(-1)?.id ?? null) : null };
}
