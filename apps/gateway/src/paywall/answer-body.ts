import { Readable } from 'node:stream';

/**
 * Reads a body until it ends (gives its bytes) or is longer than `maxBytes` (gives the whole of it as a stream, what was
 * read already included). With 0 the stream begins with the first byte.
 * @throws what the stream fails with; then none of it may be answered
 */
export async function readBody(body: Buffer | Readable, maxBytes: number): Promise<Buffer | Readable> {
  if (Buffer.isBuffer(body)) return body;
  const chunks: Buffer[] = [];
  let length = 0;
  const rest = body.iterator({ destroyOnReturn: true }) as AsyncIterableIterator<unknown>;
  for (;;) {
    const { value, done } = await rest.next();
    if (done === true) return Buffer.concat(chunks);
    const chunk = toBuffer(value);
    if (chunk.length === 0) continue;
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) return continueStream(chunks, rest, body);
  }
}

function continueStream(chunks: Buffer[], rest: AsyncIterableIterator<unknown>, source: Readable): Readable {
  async function* replay(): AsyncGenerator<Buffer> {
    yield* chunks;
    for await (const chunk of rest) yield toBuffer(chunk);
  }
  const stream = Readable.from(replay(), { objectMode: false });
  // A client that leaves must not keep the upstream busy, even where nothing of the rest was read yet.
  stream.once('close', () => source.destroy());
  return stream;
}

function toBuffer(chunk: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk;
  return chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.from(String(chunk));
}
