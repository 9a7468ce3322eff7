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
  if (!response.body || isStream || isLong) return;
  const reader = (response.clone().body as ReadableStream<Uint8Array>).getReader();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    length += value.byteLength;
    if (length > MAX_BUFFERED_BYTES) {
      // Not awaited: a cancelled copy settles only when the other one is read or cancelled too.
      reader.cancel().catch(() => undefined);
      return;
    }
  }
}
