import { readAhead } from '../network/read-ahead.js';

/**
 * An answer counts as received once this many bytes are read, which is also what gates store for a repetition by
 * default.
 */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/**
 * Reads a copy of the body to its end, so that an incomplete answer is requested again instead of being returned. Event
 * streams and answers over 1 MiB are returned as they arrive.
 * @throws any error of reading the body.
 */
export async function receiveAnswer(response: Response): Promise<void> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const isLong = Number(response.headers.get('content-length') ?? 0) > MAX_BUFFERED_BYTES;
  if (!isStream && !isLong) await readAhead(response, MAX_BUFFERED_BYTES);
}
