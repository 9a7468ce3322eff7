import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { readBody } from './read-body.js';

describe('readBody', () => {
  it('returns the bytes of a small body', async () => {
    expect(await readBody(Buffer.from('abc'), 0)).toEqual(Buffer.from('abc'));
    expect(await readBody(Readable.from(['ab', 'c']), 3)).toEqual(Buffer.from('abc'));
    expect(await readBody(Readable.from([]), 0)).toEqual(Buffer.alloc(0));
  });

  it.each([0, 1, 4, 5])('returns a body of more than %d bytes as a complete stream', async (maxBytes) => {
    const body = Readable.from([
      Buffer.from('ab'),
      Buffer.alloc(0),
      Buffer.from('cd'),
      Buffer.alloc(0),
      Buffer.from('ef'),
    ]);
    const stream = await readBody(body, maxBytes);
    expect(Buffer.isBuffer(stream)).toBe(false);
    expect((await buffer(stream as Readable)).toString()).toBe('abcdef');
  });

  it('passes on an error of the body, before and after the limit', async () => {
    const failing = () =>
      Readable.from(
        (async function* () {
          yield Buffer.from('ab');
          throw new Error('broken');
        })(),
      );
    await expect(readBody(failing(), 10)).rejects.toThrow('broken');
    await expect(buffer((await readBody(failing(), 1)) as Readable)).rejects.toThrow('broken');
  });

  it('destroys the source when the stream is destroyed, even while a chunk is awaited', async () => {
    const body = new PassThrough();
    body.write('first');
    const stream = (await readBody(body, 0)) as Readable;
    const ended = new Promise((resolve) => body.once('close', resolve));
    for await (const piece of stream) {
      expect(String(piece)).toBe('first');
      setImmediate(() => stream.destroy());
      await ended;
      break;
    }
    expect(body.destroyed).toBe(true);
  });
});
