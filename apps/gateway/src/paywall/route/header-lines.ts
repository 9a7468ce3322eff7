import type { IncomingMessage } from 'node:http';

/**
 * The values of every line of one header. Node's `headers` keep the first `Authorization` and join the lines of others;
 * its `headersDistinct` throw on a header named `__proto__`.
 *
 * @param name in small letters
 */
export function headerLines({ headers, rawHeaders }: IncomingMessage, name: string): string[] {
  if (headers[name] === undefined) return [];
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}
