import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { isReadable, makeReadable, readableCodings } from './content-coding.js';

const MAX_STORED = 1_000;
const plain = Buffer.from('text '.repeat(100));

async function textFor(acceptEncoding: string | undefined, coding: string, body: Buffer): Promise<string | null> {
  const made = await makeReadable({ headers: [['content-encoding', coding]], body }, acceptEncoding, MAX_STORED);
  if (made === null) return null;
  return Buffer.isBuffer(made.body) ? 'unchanged' : (await buffer(made.body)).toString();
}

describe('the codings that a client reads', () => {
  it.each<[string | undefined, string[]]>([
    [undefined, []],
    ['', []],
    ['identity', []],
    ['gzip, deflate, br, zstd', ['gzip', 'br']],
    ['X-GZIP;q=0.5 , BR; q=0', ['gzip']],
    ['*', ['gzip', 'br']],
    ['*;q=0.1, gzip;q=0.000', ['br']],
    ['gzip;q=much, br;level=1;Q=1', ['br']],
    ['gzip;q=-1, br;q=', []],
  ])('are of %p: %j', (acceptEncoding, codings) => {
    expect(readableCodings(acceptEncoding)).toEqual(codings);
  });

  it('must be all that an answer has', () => {
    expect([isReadable('deflate, gzip', 'gzip'), isReadable('deflate, gzip', 'gzip, deflate')]).toEqual([false, true]);
  });
});

describe('a coded answer', () => {
  const gzip = gzipSync(plain);
  it.each<[string, string | undefined, string, Buffer, string | null]>([
    ['passes to who reads it', 'gzip', 'x-gzip', gzip, 'unchanged'],
    ['passes to who reads it, whatever it is', 'zstd', 'zstd', gzip, 'unchanged'],
    ['is decoded for who does not', 'identity', 'gzip', gzip, plain.toString()],
    ['is decoded for who says nothing', undefined, 'identity, GZip', gzip, plain.toString()],
    ['is decoded from br', 'gzip', 'br', brotliCompressSync(plain), plain.toString()],
    ['is decoded from several members', '', 'gzip', Buffer.concat([gzip, gzip]), plain.toString().repeat(2)],
    ['may be empty', '', 'gzip', Buffer.alloc(0), 'unchanged'],
    ['may have 20 times the length of a stored one', '', 'gzip', gzipSync('x'.repeat(20_000)), 'x'.repeat(20_000)],
    ['may have no more', '', 'gzip', gzipSync('x'.repeat(20_001)), null],
    ['must be complete', '', 'gzip', gzip.subarray(0, -1), null],
    ['must be what it says', '', 'gzip', plain, null],
    ['must be what it says, of br too', '', 'br', plain, null],
    ['of two codings is not decoded', '', 'gzip, gzip', gzipSync(gzip), null],
    ['of another coding is not decoded', '', 'deflate', deflateSync(plain), null],
  ])('%s', async (_, acceptEncoding, coding, body, expected) => {
    expect(await textFor(acceptEncoding, coding, body)).toBe(expected);
  });

  // Prevents: a short answer takes the memory of many gigabytes, or the event loop for as long as it decodes.
  it('that never ends is given up early, and other work goes on', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    const made = await makeReadable({ headers: [['content-encoding', 'gzip']], body: bomb }, '', 200_000);
    clearInterval(timer);
    expect(made).toBeNull();
    expect(turns).toBeGreaterThan(0);
  });

  it('has headers that are true of its bytes', async () => {
    const headers: [string, string][] = [
      ['content-encoding', 'gzip'],
      ['etag', '"1"'],
      ['content-digest', 'sha-256=:x:'],
      ['content-type', 'text/plain'],
      ['vary', 'Origin'],
    ];
    const rest = headers.slice(3);
    const vary = ['vary', 'Accept-Encoding'];
    const made = async (acceptEncoding: string, own = headers) =>
      (await makeReadable({ headers: own, body: gzip }, acceptEncoding, MAX_STORED))?.headers;
    expect(await made('gzip')).toEqual([...headers, vary]);
    expect(await made('')).toEqual([['etag', 'W/"1"'], ...rest, vary]);
    const said: [string, string][] = [...headers, ['vary', 'accept-encoding']];
    expect(await made('gzip', said)).toEqual(said);
  });
});
