import type { Problem } from '@tollgate/common';
import { IDEMPOTENCY_KEY } from '@tollgate/protocol';
import type { FastifyRequest } from 'fastify';

const FIELD = IDEMPOTENCY_KEY.toLowerCase();
const VISIBLE = /^[\x21-\x7e]{1,255}$/;

export const INVALID_IDEMPOTENCY_KEY: Problem = {
  status: 400,
  code: 'idempotency_key_invalid',
  detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters.',
};

/** The header's value; undefined if absent, null if it is not 1 to 255 visible ASCII characters. */
export function readIdempotencyKey(request: FastifyRequest): string | null | undefined {
  const value = request.raw.headers[FIELD] as string | undefined;
  return value === undefined || VISIBLE.test(value) ? value : null;
}
