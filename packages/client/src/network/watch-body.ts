export interface BodyWatch {
  /** Called when the body was read to its end, or cancelled on purpose, and before its reader learns of it. */
  received: () => Promise<void>;
  /** After this time without any reading, the caller counts as not wanting the body. */
  unreadMs: number;
  /** Once it is aborted, the rest of the body counts as lost, read or not. */
  signal: AbortSignal | null;
}

/**
 * Closes the connection of a body whose reader is gone: its lock keeps Node from doing so. Null where programs
 * cannot observe garbage collection, as in older Workers, which close all connections of a request when it ends.
 */
const dropped =
  typeof FinalizationRegistry === 'undefined'
    ? null
    : new FinalizationRegistry<ReadableStreamDefaultReader>((reader) => {
        reader.cancel().catch(() => undefined);
      });

/** A response whose body is passed on as it is read, and reports whether it has reached its reader. */
export function watchBody(response: Response, { received, unreadMs, signal }: BodyWatch): Response {
  // Locked before it is read too: an abort would make Node cancel an unlocked body, and reject a promise that nobody can handle.
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let receipt: Promise<void> | undefined;
  let isCancelled = false;
  const note = (): Promise<void> => (receipt ??= received());
  const timer = setTimeout(() => {
    // An error leaves the answer unreceived: it is then requested again, and not paid again.
    if (!signal?.aborted) note().catch(() => (receipt = undefined));
  }, unreadMs);
  (timer as { unref?: () => void }).unref?.();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        clearTimeout(timer);
        const { done, value } = await reader.read();
        // The body of an aborted request may end in the same way as a complete one.
        signal?.throwIfAborted();
        // A cancellation ends this read like the end of the body.
        if (isCancelled) return;
        if (!done) return controller.enqueue(value);
        await note();
        controller.close();
      },
      cancel: async (reason) => {
        isCancelled = true;
        clearTimeout(timer);
        reader.cancel(reason).catch(() => undefined);
        // A pipe gives the error of its target as the reason, a clone a list of both: the answer was wanted, and is lost.
        const isLost = [reason].flat().some((one) => one instanceof Error);
        if (!isLost && !signal?.aborted) await note();
      },
    },
    // Nothing is read ahead, so that the end is reached only after all the rest was taken.
    { highWaterMark: 0 },
  );
  dropped?.register(body, reader);
  return keepUrl(new Response(body, response), response.url);
}

/** A constructed response has no URL of its own, and neither has its clone. */
function keepUrl(response: Response, url: string): Response {
  const clone = (): Response => keepUrl(Response.prototype.clone.call(response), url);
  return Object.defineProperties(response, { url: { value: url }, clone: { value: clone } });
}
