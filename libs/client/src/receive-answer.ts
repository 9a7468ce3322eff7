import { readAhead } from './read-ahead.js';

/** As much of an answer is read before it counts as received: what gates keep to give again, by default. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/**
 * Reads a copy of the body to its end, so that an answer lost half way is asked for again, not handed on.
 * Event streams and answers over 1 MiB are handed on as they come.
 * @throws what reading the body throws.
 */
export async function receiveAnswer(response: Response): Promise<void> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const isLong = Number(response.headers.get('content-length') ?? 0) > MAX_BUFFERED_BYTES;
  if (!isStream && !isLong) await readAhead(response, MAX_BUFFERED_BYTES);
}
