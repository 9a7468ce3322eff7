import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const SANE = /^[A-Za-z0-9._:@+/=-]{1,128}$/;

/** The client's `X-Request-Id` where it is harmless in a log and a header, otherwise an id of our own. */
export function createRequestIds(): (request: Pick<IncomingMessage, 'headers'>) => string {
  // Random per process, counted within: unique over replicas without a draw from the system for each request.
  const prefix = `${randomBytes(6).toString('hex')}-`;
  let count = 0;
  return ({ headers }) => {
    const presented = headers['x-request-id'];
    if (presented !== undefined && SANE.test(presented as string)) return presented as string;
    count += 1;
    return prefix + count.toString(36);
  };
}
