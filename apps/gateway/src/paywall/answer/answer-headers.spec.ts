import { Readable } from 'node:stream';

import { keepHeaders } from './answer-headers.js';

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
