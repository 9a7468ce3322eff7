import { Readable } from 'node:stream';

import { keepHeaders, privateCacheControl } from './answer-headers.js';

describe('privateCacheControl', () => {
  it.each([
    ['public, max-age=60', 'private'],
    ['s-maxage=60', 'private'],
    ['no-store', 'private, no-store'],
    ['private="x", No-Store', 'private, no-store'],
    ['private="x", no-cache', 'private'],
    ['', 'private'],
  ])('turns "%s" into "%s"', (given, expected) => {
    expect(privateCacheControl([['Cache-Control', given]])).toBe(expected);
  });
});

describe('keepHeaders', () => {
  it('drops hop-by-hop headers, however they are spelled, and those that only the gateway sets', () => {
    const headers = [
      ['Content-Type', 'text/plain'],
      ['Connection', 'close, X-Hop'],
      ['X_Hop', '1'],
      ['Proxy-Authentication-Info', 'x'],
      ['Transfer-Encoding', 'chunked'],
      ['Date', 'x'],
      ['X-Payment-Released', 'true'],
      ['Access-Control-Allow-Origin', '*'],
      ['Content-Length', '5'],
    ] as const;
    expect(keepHeaders(headers, Buffer.from('bytes'))).toEqual([['Content-Type', 'text/plain']]);
  });

  it('keeps the length of a stream', () => {
    const length = [['Content-Length', '5']] as const;
    expect(keepHeaders(length, Readable.from(['bytes']))).toEqual(length);
  });
});
