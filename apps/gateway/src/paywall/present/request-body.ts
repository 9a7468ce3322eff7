import type { IncomingMessage } from 'node:http';

import { ProblemError, problemOf } from '@tollgate/http';

import { readBody } from '../route/read-body.js';

/** Whether the head of a request announces a body. One that is sent in chunks may still prove empty. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0);
}

/**
 * Reads the body of a request of any method as it was sent; null where there is none, or an empty one.
 * @throws ProblemError `body_too_large` as soon as it is longer than `maxBytes`, and what follows is discarded;
 * `bad_request` where it breaks off
 */
export async function readRequestBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  if (!announcesBody(request)) return null;
  const body = await readBody(request, maxBytes).catch((cause: unknown) => {
    throw new ProblemError(problemOf(400), { cause });
  });
  if (Buffer.isBuffer(body)) return body.length === 0 ? null : body;
  // Not closed: the client would lose the answer while it still sends.
  body.on('error', () => undefined).resume();
  throw new ProblemError(problemOf(413));
}
