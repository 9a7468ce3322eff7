import type { JsonTree } from '../bookings/canonical-json.js';
import type { BookWriter } from './book-writer.js';

/** Something that a person did through the operator API. */
export interface OperatorAct {
  /** The API key that was used. */
  readonly keyId: string;
  /** `close`, `refund`, … */
  readonly action: string;
  /** What it was done to: a payment, a closing. */
  readonly subject: string;
  readonly requestId: string;
  readonly details: { readonly [name: string]: JsonTree };
}

/** Records an act in the audit table, which is append-only. @throws DeposedError, BookUnavailableError */
export async function recordAct(writer: BookWriter, act: OperatorAct): Promise<void> {
  const { keyId, action, subject, requestId, details } = act;
  await writer.write((within) =>
    within.query(
      'INSERT INTO audit (key_id, action, subject, request_id, details) VALUES ($1, $2, $3, $4, $5::jsonb)',
      [...[keyId, action, subject, requestId, JSON.stringify(details)]],
    ),
  );
}
