import { decodeJsonHeader, type JsonRecord } from '@tollgate/protocol';

/**
 * Reads a copy of the body to its end, or until it exceeds `maxBytes`. That part of the response can then be read from
 * memory.
 * @returns whether that is the whole body
 * @throws any error of reading the body.
 */
export async function readAhead(response: Response, maxBytes: number): Promise<boolean> {
  if (!response.body) return true;
  const reader = (response.clone().body as ReadableStream<Uint8Array>).getReader();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return true;
    length += value.byteLength;
    if (length > maxBytes) {
      // Not awaited: cancelling a copy completes only when the other copy is read or cancelled too.
      reader.cancel().catch(() => undefined);
      return false;
    }
  }
}

/**
 * The chunks of a body as they arrive. Passing the signal to fetch is not enough: in Node 20 a garbage collection can
 * cut the link between the two, and reading from a silent server would never end. Leaving the loop closes the
 * connection.
 * @throws the signal's reason once it is aborted; any error of reading
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      // A cancelled body ends in the same way as a complete one.
      signal.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

/** The whole body as text. */
export async function readText(response: Response, signal: AbortSignal): Promise<string> {
  // A fetch without streams, such as that of React Native, has no reader to cancel either.
  if (!response.body) return response.text();
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of readChunks(response.body as ReadableStream<Uint8Array>, signal)) {
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The value of a JSON text; undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The record in a header; empty where there is none, or it cannot be read. */
export function readJsonHeader(header: string | null, maxBytes: number): JsonRecord {
  try {
    return header === null ? {} : decodeJsonHeader(header, maxBytes);
  } catch {
    return {};
  }
}
