import { randomBytes } from 'node:crypto';

import type { Queryable } from '../database/database.js';
import type { OutgoingEventType } from '../events/outgoing-event.js';
import type { BookWriter } from '../posting/book-writer.js';

/** `gone`: it answered 410. `key_revoked`: the API key that registered it was revoked. */
export type PaymentTargetFault = 'gone' | 'key_revoked';

/** An address to which events of payments are posted. Its secret is derived from its id, and stored nowhere. */
export interface PaymentTarget {
  /** `wh_` and 24 hexadecimal digits; not secret. */
  readonly id: string;
  /** The API key that registered it. */
  readonly keyId: string;
  readonly url: string;
  /** Empty: all. */
  readonly events: readonly OutgoingEventType[];
  readonly createdAt: string;
  readonly disabled: PaymentTargetFault | null;
  /** Events that are not delivered yet. */
  readonly waiting: number;
  /** Events that were dropped because too many waited. */
  readonly crowdedOut: number;
}

const COLUMNS = `id, key_id AS "keyId", url, events, created_at, disabled, crowded_out AS "crowdedOut",
  (SELECT count(*) FROM webhook_deliveries WHERE target = webhook_targets.id AND next_at IS NOT NULL) AS waiting`;

type Row = Omit<PaymentTarget, 'createdAt'> & { created_at: Date };

/** Events from now on are delivered to it. Returns its id; null when the key has as many targets as it may. */
export function addPaymentTarget(
  writer: BookWriter,
  { keyId, url, events }: Pick<PaymentTarget, 'keyId' | 'url' | 'events'>,
  limit: number,
): Promise<string | null> {
  const id = `wh_${randomBytes(12).toString('hex')}`;
  return writer.write(async (within) => {
    const [row] = await within.query<{ count: number }>(
      'SELECT count(*) AS count FROM webhook_targets WHERE key_id = $1',
      [keyId],
    );
    if ((row?.count ?? 0) >= limit) return null;
    await within.query('INSERT INTO webhook_targets (id, key_id, url, events) VALUES ($1, $2, $3, $4::text[])', [
      ...[id, keyId, url, [...new Set(events)]],
    ]);
    return id;
  });
}

/** The targets of an API key, or all; oldest first. */
export async function listPaymentTargets(within: Queryable, keyId: string | null): Promise<PaymentTarget[]> {
  const rows = await within.query<Row>(
    `SELECT ${COLUMNS} FROM webhook_targets WHERE $1::text IS NULL OR key_id = $1 ORDER BY created_at, id`,
    [keyId],
  );
  return rows.map(({ created_at: createdAt, ...row }) => ({ ...row, createdAt: createdAt.toISOString() }));
}

/** It receives events from now on. False: the key has no such target. */
export async function enablePaymentTarget(writer: BookWriter, keyId: string, id: string): Promise<boolean> {
  const rows = await writer.write((within) =>
    within.query('UPDATE webhook_targets SET disabled = NULL WHERE key_id = $1 AND id = $2 RETURNING id', [keyId, id]),
  );
  return rows.length > 0;
}

/** What waits for it is dropped. False: the key has no such target. */
export async function removePaymentTarget(writer: BookWriter, keyId: string, id: string): Promise<boolean> {
  const rows = await writer.write((within) =>
    within.query('DELETE FROM webhook_targets WHERE key_id = $1 AND id = $2 RETURNING id', [keyId, id]),
  );
  return rows.length > 0;
}

/** What waits for it is dropped. */
export async function disablePaymentTarget(writer: BookWriter, id: string, fault: PaymentTargetFault): Promise<void> {
  await writer.write(async (within) => {
    await within.query('UPDATE webhook_targets SET disabled = $2 WHERE id = $1', [id, fault]);
    await within.query('DELETE FROM webhook_deliveries WHERE target = $1 AND next_at IS NOT NULL', [id]);
  });
}
