/**
 * Reads a copy of the body to its end, or until it has more than `maxBytes`. The response itself is then read from memory,
 * that far.
 * @throws what reading the body throws.
 */
export async function readAhead(response: Response, maxBytes: number): Promise<void> {
  if (!response.body) return;
  const reader = (response.clone().body as ReadableStream<Uint8Array>).getReader();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    length += value.byteLength;
    if (length > maxBytes) {
      // Not awaited: a cancelled copy settles only when the other one is read or cancelled too.
      reader.cancel().catch(() => undefined);
      return;
    }
  }
}
