/**
 * Reads a copy of the body to its end, or until it exceeds `maxBytes`. That part of the response can then be read from
 * memory.
 * @throws any error of reading the body.
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
      // Not awaited: cancelling a copy completes only when the other copy is read or cancelled too.
      reader.cancel().catch(() => undefined);
      return;
    }
  }
}
