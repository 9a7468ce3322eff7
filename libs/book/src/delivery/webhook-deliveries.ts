import type { Queryable } from '../database/database.js';
import type { OutgoingEvent } from '../events/outgoing-event.js';
import type { BookWriter } from '../posting/book-writer.js';
import type { PaymentTarget } from './webhook-targets.js';

/** An event that is to be posted to a target now. */
export interface DueDelivery {
  /** The event's number. */
  readonly number: number;
  readonly event: OutgoingEvent;
  /** Attempts that failed. */
  readonly attempts: number;
}

/** What an attempt has come to. `retryAfterMs` null: it was the last one. */
export type TriedDelivery =
  | { readonly number: number; readonly isDelivered: true }
  | {
      readonly number: number;
      readonly isDelivered: false;
      readonly reason: string;
      readonly retryAfterMs: number | null;
    };

/** A delivery that was given up. */
export interface DeadDelivery {
  readonly webhookId: string;
  readonly attempts: number;
  readonly failedAt: string;
  readonly reason: string;
  readonly event: OutgoingEvent;
}

/** The targets that an event is due for. */
export function listDueTargets(within: Queryable): Promise<Pick<PaymentTarget, 'id' | 'keyId' | 'url'>[]> {
  return within.query(
    `SELECT id, key_id AS "keyId", url FROM webhook_targets WHERE disabled IS NULL
      AND EXISTS (SELECT FROM webhook_deliveries WHERE target = id AND next_at <= now())`,
  );
}

/** The events that are due for a target, the longest first. */
export async function readDue(within: Queryable, target: string, limit: number): Promise<DueDelivery[]> {
  const rows = await within.query<{ number: number; content: string; attempts: number }>(
    `SELECT number, content, attempts FROM webhook_deliveries JOIN payment_events ON number = event
      WHERE target = $1 AND next_at <= now() ORDER BY next_at, number LIMIT $2`,
    [target, limit],
  );
  return rows.map(({ content, ...row }) => ({ ...row, event: JSON.parse(content) as OutgoingEvent }));
}

/** Records attempts. @throws DeposedError, BookUnavailableError; then the events are posted again */
export async function recordTried(writer: BookWriter, target: string, tried: readonly TriedDelivery[]): Promise<void> {
  const delivered = tried.flatMap(({ number, isDelivered }) => (isDelivered ? [number] : []));
  const failed = tried.flatMap((one) => (one.isDelivered ? [] : [one]));
  await writer.write(async (within) => {
    await within.query('DELETE FROM webhook_deliveries WHERE target = $1 AND event = ANY($2::bigint[])', [
      ...[target, delivered],
    ]);
    if (failed.length === 0) return;
    await within.query(
      `UPDATE webhook_deliveries SET attempts = attempts + 1, tried_at = now(), reason = failed.reason,
          next_at = now() + failed."retryAfterMs" * interval '1 millisecond'
        FROM jsonb_to_recordset($2::jsonb) AS failed(number bigint, reason text, "retryAfterMs" bigint)
        WHERE target = $1 AND event = failed.number`,
      [target, JSON.stringify(failed)],
    );
  });
}

/** Drops the oldest waiting events of a target above the limit; returns how many. */
export function boundWaiting(writer: BookWriter, target: string, limit: number): Promise<number> {
  return writer.write(async (within) => {
    const dropped = await within.query(
      `DELETE FROM webhook_deliveries WHERE target = $1 AND next_at IS NOT NULL AND event <= (
        SELECT event FROM webhook_deliveries WHERE target = $1 AND next_at IS NOT NULL
        ORDER BY event DESC OFFSET $2 LIMIT 1) RETURNING event`,
      [target, limit],
    );
    if (dropped.length > 0) {
      await within.query('UPDATE webhook_targets SET crowded_out = crowded_out + $2 WHERE id = $1', [
        ...[target, dropped.length],
      ]);
    }
    return dropped.length;
  });
}

/** The deliveries to a key's targets that were given up, newest first. */
export async function listDeadDeliveries(within: Queryable, keyId: string, limit: number): Promise<DeadDelivery[]> {
  const rows = await within.query<{ id: string; attempts: number; tried: Date; reason: string; content: string }>(
    `SELECT webhook_targets.id, attempts, tried_at AS tried, reason, content FROM webhook_deliveries
      JOIN webhook_targets ON webhook_targets.id = target JOIN payment_events ON number = event
      WHERE key_id = $1 AND next_at IS NULL ORDER BY tried_at DESC, event DESC LIMIT $2`,
    [keyId, limit],
  );
  return rows.map(({ id, attempts, tried, reason, content }) => ({
    ...{ webhookId: id, attempts, failedAt: tried.toISOString(), reason },
    event: JSON.parse(content) as OutgoingEvent,
  }));
}

/** Starts again, with all attempts, what was given up for a target; returns how many. */
export async function resendDead(writer: BookWriter, keyId: string, target: string): Promise<number> {
  const rows = await writer.write((within) =>
    within.query(
      `UPDATE webhook_deliveries SET attempts = 0, next_at = now() WHERE next_at IS NULL
        AND target = (SELECT id FROM webhook_targets WHERE id = $2 AND key_id = $1 AND disabled IS NULL) RETURNING event`,
      [keyId, target],
    ),
  );
  return rows.length;
}

/** Removes what was given up longer ago than this, and all but the newest of it. */
export async function trimDead(writer: BookWriter, { days, most }: { days: number; most: number }): Promise<void> {
  await writer.write((within) =>
    within.query(
      // Several may have been tried at one time.
      `DELETE FROM webhook_deliveries WHERE next_at IS NULL AND (tried_at <= now() - $1 * interval '1 day'
        OR (tried_at, event, target) <= (SELECT tried_at, event, target FROM webhook_deliveries WHERE next_at IS NULL
          ORDER BY tried_at DESC, event DESC, target DESC OFFSET $2 LIMIT 1))`,
      [days, most],
    ),
  );
}

/** How many events wait for all targets, and how many were given up. */
export async function countDeliveries(within: Queryable): Promise<{ waiting: number; dead: number }> {
  const [row] = await within.query<{ waiting: number; dead: number }>(
    `SELECT count(*) FILTER (WHERE next_at IS NOT NULL) AS waiting, count(*) FILTER (WHERE next_at IS NULL) AS dead
      FROM webhook_deliveries`,
  );
  return row ?? { waiting: 0, dead: 0 };
}
