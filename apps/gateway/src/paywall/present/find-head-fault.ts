import { type Problem, problemOf } from '@tollgate/http';
import type { FastifyRequest } from 'fastify';

import { INVALID_IDEMPOTENCY_KEY, readIdempotencyKey } from '../../server/idempotency-key.js';
import { MAX_PATH_BYTES, type RequestedPath } from '../route/paid-path.js';
import { announcesBody } from './request-body.js';

const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+[ \t]*(?:;|$)/;

/** The upgrade would be bought, and is never made: the resource would answer as if it had not been asked for. */
const UPGRADE: Problem = {
  status: 501,
  code: 'upgrade_unsupported',
  detail: 'A connection cannot be upgraded here. Send the request over HTTP/1.1, without Upgrade.',
};

/**
 * Why no payment can get this request served, as far as its head tells; null where nothing stands against it. It is
 * the same for a request with a payment and without one, so that no client pays for a request that is then refused.
 */
export function findHeadFault(request: FastifyRequest, { canonical, sent }: RequestedPath): Problem | null {
  if (Math.max(canonical.length, sent.path.length) > MAX_PATH_BYTES) return problemOf(414);
  const { headers } = request.raw;
  if (headers.upgrade !== undefined) return UPGRADE;
  if (readIdempotencyKey(request) === null) return INVALID_IDEMPOTENCY_KEY;
  if (!announcesBody(request.raw)) return null;
  if (Number(headers['content-length']) > request.routeOptions.bodyLimit) return problemOf(413);
  const type = headers['content-type'];
  return type === undefined || MEDIA_TYPE.test(type) ? null : problemOf(415);
}
