import type { BookEventOf } from '@tollgate/book-events';

import type { JsonTree } from '../bookings/booking.js';
import type { Queryable } from '../database/database.js';
import type { BookWriter } from './book-writer.js';

/** Something that a person did through the operator API. */
export interface OperatorAct {
  /** Public id of the API key that was used. */
  readonly keyId: string;
  /** `close`, `refund`, … */
  readonly action: string;
  /** What it was done to: a payment, a closing. */
  readonly subject: string;
  readonly requestId: string;
  readonly details: { readonly [name: string]: JsonTree };
}

/**
 * Records an act in the audit table, which is append-only. False: the key has made as many acts of this day, UTC, as it
 * may (0: any number), and nothing is recorded.
 * @throws DeposedError, BookUnavailableError
 */
export async function recordAct(
  writer: BookWriter,
  { keyId, action, subject, requestId, details }: OperatorAct,
  { mostPerDay }: { mostPerDay: number },
): Promise<boolean> {
  const recorded = await writer.write((within) =>
    within.query(
      `INSERT INTO audit (key_id, action, subject, request_id, details) SELECT $1, $2, $3, $4, $5::jsonb
        WHERE $6 = 0 OR $6 > (SELECT count(*) FROM audit
          WHERE key_id = $1 AND at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')
        RETURNING id`,
      [...[keyId, action, subject, requestId, JSON.stringify(details), mostPerDay]],
    ),
  );
  return recorded.length === 1;
}

/** Records what a command or a worker did without the operator API. */
export async function storeAct(within: Queryable, { atMs, facts }: BookEventOf<'acted'>): Promise<void> {
  const { keyId, action, subject, details } = facts;
  await within.query(
    `INSERT INTO audit (at, key_id, action, subject, request_id, details) VALUES ($1, $2, $3, $4, '', $5::jsonb)`,
    [new Date(atMs).toISOString(), keyId, action, subject, JSON.stringify(details)],
  );
}
