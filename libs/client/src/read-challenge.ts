import { parseChallenge, PaymentError, type PaymentChallenge } from '@tollgate/protocol';

/** A challenge is below 1 KiB; what is far longer is not read. */
const MAX_CHALLENGE_BYTES = 64 * 1024;

/** At most `limit` bytes of the body, or null when it is longer. */
async function readBounded(response: Response, limit: number): Promise<Uint8Array | null> {
  if (!response.body) return new Uint8Array();
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > limit) {
      await reader.cancel().catch(() => undefined);
      return null;
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/**
 * Reads the body of a 402.
 * @throws PaymentError `malformed_challenge` for more than 64 KiB, for what is not JSON, and for what is no challenge.
 */
export async function readChallenge(response: Response): Promise<PaymentChallenge> {
  const bytes = await readBounded(response, MAX_CHALLENGE_BYTES);
  if (bytes === null) {
    throw new PaymentError('malformed_challenge', `The 402 answer is longer than ${MAX_CHALLENGE_BYTES} bytes.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new PaymentError('malformed_challenge', 'The 402 answer is not JSON.', { cause });
  }
  return parseChallenge(value);
}

/** The `error` text of a 402 that refuses a proof, or null; never throws. */
export async function readChallengeError(response: Response): Promise<string | null> {
  try {
    const { error } = await readChallenge(response);
    return error === undefined ? null : error.slice(0, 200);
  } catch {
    return null;
  }
}
