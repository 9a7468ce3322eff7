import type { Problem } from '@tollgate/http';
import { IDEMPOTENCY_KEY, parseIdempotencyKey } from '@tollgate/protocol';
import type { FastifyRequest } from 'fastify';

const FIELD = IDEMPOTENCY_KEY.toLowerCase();

export const INVALID_IDEMPOTENCY_KEY: Problem = {
  status: 400,
  code: 'idempotency_key_invalid',
  detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters, as they are or in double quotes.',
};

/** The header's key; undefined if absent, null if it is not valid. */
export function readIdempotencyKey(request: FastifyRequest): string | null | undefined {
  const value = request.raw.headers[FIELD] as string | undefined;
  return value === undefined ? undefined : parseIdempotencyKey(value);
}
