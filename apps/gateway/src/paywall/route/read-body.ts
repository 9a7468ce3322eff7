import { Readable } from 'node:stream';

/**
 * Reads a body to its end and returns its bytes. A body longer than `maxBytes` is returned as a stream instead, which
 * begins with the bytes already read. With `maxBytes` 0, the call returns once the first byte has arrived.
 * @throws the stream's own error; then no part of the body may be sent
 */
export async function readBody(body: Buffer | Readable, maxBytes: number): Promise<Buffer | Readable> {
  if (Buffer.isBuffer(body)) return body;
  const chunks: Buffer[] = [];
  let length = 0;
  const rest = body[Symbol.asyncIterator]() as AsyncIterator<unknown>;
  for (;;) {
    const chunk = await readPiece(rest);
    if (chunk === null) return Buffer.concat(chunks);
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) return continueStream(chunks, rest, body);
  }
}

/** The next bytes, or null at the end. Skips empty chunks: pushing one would look like a pause. */
async function readPiece(pieces: AsyncIterator<unknown>): Promise<Buffer | null> {
  for (;;) {
    const { value, done } = (await pieces.next()) as IteratorResult<unknown, unknown>;
    if (done === true) return null;
    const piece = toBuffer(value);
    if (piece.length > 0) return piece;
  }
}

function continueStream(chunks: readonly Buffer[], rest: AsyncIterator<unknown>, source: Readable): Readable {
  const waiting = [...chunks];
  return new Readable({
    read() {
      const next = waiting.shift();
      if (next !== undefined) {
        this.push(next);
        return;
      }
      readPiece(rest).then(
        (piece) => this.push(piece),
        (error: unknown) => this.destroy(error as Error),
      );
    },
    // Destroys the source immediately, even while a chunk is awaited: a client that left must not keep the upstream
    // busy.
    destroy(error, done) {
      source.destroy();
      done(error);
    },
  });
}

function toBuffer(chunk: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk;
  return chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.from(String(chunk));
}
