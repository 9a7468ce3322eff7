import {
  decodeJsonHeader,
  isRecord,
  ownField,
  parseChallenge,
  PAYMENT_REQUIRED,
  PaymentError,
  type PaymentChallenge,
} from '@tollgate/protocol';

/** Far more than a challenge needs; longer bodies are not read. */
const MAX_CHALLENGE_BYTES = 64 * 1024;

/** Without a time limit, a server that sends a challenge byte by byte would block the caller for months. */
const READ_WITHIN_MS = 30_000;

/**
 * At most `limit` bytes of the body, or null when it is longer.
 * @throws any error of reading, also when it takes longer than `timeoutMs`
 */
async function readBounded(response: Response, limit: number, timeoutMs: number): Promise<Uint8Array | null> {
  if (!response.body) return new Uint8Array();
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new PaymentError('malformed_challenge', `The 402 answer did not end within ${timeoutMs} ms.`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([readAll(reader, limit), late]);
  } catch (error) {
    reader.cancel().catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>, limit: number): Promise<Uint8Array | null> {
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
 * The parsed JSON body of a 402.
 * @throws PaymentError `malformed_challenge` for more than 64 KiB, invalid JSON, or a body that does not end in time.
 */
export async function readChallengeBody(response: Response, timeoutMs = READ_WITHIN_MS): Promise<unknown> {
  const bytes = await readBounded(response, MAX_CHALLENGE_BYTES, timeoutMs);
  if (bytes === null) {
    throw new PaymentError('malformed_challenge', `The 402 answer is longer than ${MAX_CHALLENGE_BYTES} bytes.`);
  }
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new PaymentError('malformed_challenge', 'The 402 answer is not JSON.', { cause });
  }
}

/**
 * Parses the body of a 402 that requires a transfer.
 * @throws PaymentError `malformed_challenge` if it is not JSON, is too long, or is not a challenge.
 */
export async function readChallenge(response: Response): Promise<PaymentChallenge> {
  return parseChallenge(await readChallengeBody(response));
}

/** The `error` text of a 402 that refuses a proof, or null; never throws. In version 2 it is in a header. */
export async function readChallengeError(response: Response, timeoutMs: number): Promise<string | null> {
  const header = response.headers.get(PAYMENT_REQUIRED);
  const errors = [header === null ? null : readHeaderError(header), await readBodyError(response, timeoutMs)];
  return errors.find((error) => error !== null)?.slice(0, 200) ?? null;
}

function readHeaderError(header: string): string | null {
  try {
    return errorOf(decodeJsonHeader(header, MAX_CHALLENGE_BYTES));
  } catch {
    return null;
  }
}

async function readBodyError(response: Response, timeoutMs: number): Promise<string | null> {
  return readChallengeBody(response, timeoutMs).then(errorOf, () => null);
}

function errorOf(challenge: unknown): string | null {
  const error = isRecord(challenge) ? ownField(challenge, 'error') : undefined;
  return typeof error === 'string' ? error : null;
}
