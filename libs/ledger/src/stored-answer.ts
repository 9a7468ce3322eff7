import type { StoredAnswer } from './types.js';

/** Status and headers as one line of JSON, followed by the bytes of the body. */
export function encodeAnswer({ status, headers, body }: StoredAnswer): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ status, headers })}\n`), body]);
}

/** The inverse of `encodeAnswer`. Throws on other bytes. */
export function decodeAnswer(bytes: Buffer): StoredAnswer {
  const end = bytes.indexOf('\n');
  const { status, headers } = JSON.parse(bytes.toString('utf8', 0, end)) as Omit<StoredAnswer, 'body'>;
  return { status, headers, body: bytes.subarray(end + 1) };
}
