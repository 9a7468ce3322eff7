import { concatBytes } from '../present/digest.js';

/** What was read of a stream before its payment is settled. */
export interface HeldStream {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether there is more, which is sent as it comes once the payment is settled. */
  readonly isOpen: boolean;
}

/**
 * Reads a stream to its end, or until it exceeds `maxBytes`; 0: until its first bytes.
 * @throws TypeError for a stream of anything but bytes and text
 */
export async function holdStream(source: AsyncIterator<unknown>, maxBytes: number): Promise<HeldStream> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let part = await source.next(); part.done !== true; part = await source.next()) {
    const chunk = toBytes(part.value);
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) return { bytes: concatBytes(chunks), isOpen: true };
  }
  return { bytes: concatBytes(chunks), isOpen: false };
}

/** The held bytes, and then the rest of their source as fast as it is read. */
export function continueStream(bytes: Uint8Array<ArrayBuffer>, source: AsyncIterator<unknown>): ReadableStream {
  let isBegun = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const part = isBegun ? await source.next() : { value: bytes, done: false };
        isBegun = true;
        if (part.done === true) controller.close();
        else controller.enqueue(toBytes(part.value));
      },
      cancel: async () => void (await source.return?.()),
    },
    { highWaterMark: 0 },
  );
}

function toBytes(chunk: unknown): Uint8Array {
  if (typeof chunk === 'string') return new TextEncoder().encode(chunk);
  // Of any realm.
  if (ArrayBuffer.isView(chunk) && /^\[object (Uint8Array|Buffer)\]$/.test(Object.prototype.toString.call(chunk)))
    return chunk as Uint8Array;
  throw new TypeError('The body of a response must be a stream of bytes.');
}
