import { Readable } from 'node:stream';

/**
 * The whole body, or, once it is larger than `maxBytes`, a stream of all of it: what was read and what is still to come.
 * Rejects where the body breaks off.
 */
export async function readAnswerBody(body: Readable, maxBytes: number): Promise<Buffer | Readable> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const rest = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    chunks.push(next.value);
    bytes += next.value.length;
    if (bytes > maxBytes) return rejoin(chunks, rest, body);
  }
  return Buffer.concat(chunks, bytes);
}

function rejoin(read: readonly Buffer[], rest: AsyncIterator<Buffer>, source: Readable): Readable {
  const whole = Readable.from(
    (async function* () {
      yield* read;
      for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
    })(),
    { objectMode: false },
  );
  // A generator that never began does not run its clean-up, so the connection is given up here.
  return whole.once('close', () => source.destroy()).on('error', () => undefined);
}
