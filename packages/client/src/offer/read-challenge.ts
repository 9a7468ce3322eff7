import {
  isRecord,
  ownField,
  PAYMENT_REQUIRED,
  PAYMENT_RESPONSE,
  PaymentError,
  X_PAYMENT_RESPONSE,
} from '@tollgate/protocol';

import { readChunks, readJsonHeader } from '../network/read-body.js';

/** Far more than a challenge needs; longer bodies are not read. */
const MAX_CHALLENGE_BYTES = 64 * 1024;

/** Without a time limit, a server that sends a challenge byte by byte would block the caller for months. */
const READ_WITHIN_MS = 30_000;

/**
 * The parsed JSON body of a 402.
 * @throws PaymentError `malformed_challenge` for more than 64 KiB, invalid JSON, or a body that does not end in time.
 */
export async function readChallengeBody({ body }: Response, timeoutMs = READ_WITHIN_MS): Promise<unknown> {
  const refuse = (why: string, cause?: unknown) =>
    new PaymentError('malformed_challenge', `The 402 answer ${why}.`, { cause });
  const closing = new AbortController();
  const timer = setTimeout(() => closing.abort(refuse(`did not end within ${timeoutMs} ms`)), timeoutMs);
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  try {
    for await (const chunk of body ? readChunks(body as ReadableStream<Uint8Array>, closing.signal) : []) {
      length += chunk.byteLength;
      if (length > MAX_CHALLENGE_BYTES) throw refuse(`is longer than ${MAX_CHALLENGE_BYTES} bytes`);
      text += decoder.decode(chunk, { stream: true });
    }
  } finally {
    clearTimeout(timer);
  }
  try {
    return JSON.parse(text + decoder.decode());
  } catch (cause) {
    throw refuse('is not JSON', cause);
  }
}

/** Where a server says why it takes no payment: x402, its facilitator, and RFC 9457 as MPP uses it. */
const REASONS = ['error', 'errorReason', 'invalidReason', 'detail', 'title', 'type'];
const REASON_HEADERS = [PAYMENT_REQUIRED, PAYMENT_RESPONSE, X_PAYMENT_RESPONSE];

/** The server's own reason in a 402 that refuses a proof, or null; never throws. In version 2 it is in a header. */
export async function readChallengeError(response: Response, timeoutMs: number): Promise<string | null> {
  const inBody = await readChallengeBody(response, timeoutMs).then(reasonIn, () => null);
  const [inHeader] = REASON_HEADERS.map((name) =>
    reasonIn(readJsonHeader(response.headers.get(name), MAX_CHALLENGE_BYTES)),
  ).filter((reason) => reason !== null);
  return (inHeader ?? inBody)?.slice(0, 200) ?? null;
}

function reasonIn(said: unknown): string | null {
  if (!isRecord(said)) return null;
  const reason = REASONS.map((name) => ownField(said, name)).find((text) => typeof text === 'string' && text !== '');
  return typeof reason === 'string' ? reason : null;
}
