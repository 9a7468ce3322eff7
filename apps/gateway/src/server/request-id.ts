import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const SANE = /^[A-Za-z0-9._:@+/=-]{1,128}$/;

/** The client's `X-Request-Id` if it is harmless in a log and a header, otherwise a new id. */
export function createRequestIds(): (request: Pick<IncomingMessage, 'headers'>) => string {
  // A random prefix per process and a counter: unique across replicas without a system call for each request.
  const prefix = `${randomBytes(6).toString('hex')}-`;
  let count = 0;
  return ({ headers }) => {
    const presented = headers['x-request-id'];
    if (presented !== undefined && SANE.test(presented as string)) return presented as string;
    count += 1;
    return prefix + count.toString(36);
  };
}
