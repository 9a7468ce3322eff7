/**
 * The pieces of a body as they come. Having given the signal to fetch is not enough: Node 20 loses the link between the two
 * in a garbage collection, and the read of a silent server would never end. Leaving the loop closes the connection.
 * @throws the signal's reason once it is aborted; what reading throws
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
      // A body that was cancelled ends like one that is whole.
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
  // A fetch that has no streams, as that of React Native, has no reader to cancel either.
  if (!response.body) return response.text();
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of readChunks(response.body as ReadableStream<Uint8Array>, signal)) {
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
