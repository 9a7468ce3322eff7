import type { FastifyRequest } from 'fastify';

import { createPublicOrigin } from './public-origin.js';

const ask = (host: string, protocol = 'https') => ({ host, protocol }) as FastifyRequest;

describe('createPublicOrigin', () => {
  it('is PUBLIC_URL, whatever the request states', () => {
    const read = createPublicOrigin('https://api.example:8443/shop/');
    expect(read(ask('evil.example'))).toEqual({ url: 'https://api.example:8443/shop', host: 'api.example:8443' });
  });

  it("is the request's host without PUBLIC_URL", () => {
    const read = createPublicOrigin(undefined);
    expect(read(ask('api.example'))).toEqual({ url: 'https://api.example', host: 'api.example' });
    expect(read(ask('api.example', 'http'))).toEqual({ url: 'http://api.example', host: 'api.example' });
    expect(read(ask('127.0.0.1:4020', 'http'))).toEqual({ url: 'http://127.0.0.1:4020', host: '127.0.0.1:4020' });
    expect(read(ask('[::1]:4020', 'http'))).toEqual({ url: 'http://[::1]:4020', host: '[::1]:4020' });
  });

  it.each(['', 'a"b', 'a b', 'a\\b', 'api.example/x', 'user@api.example', 'a,b', 'x'.repeat(300)])(
    'replaces an invalid Host: %j',
    (host) => {
      expect(createPublicOrigin(undefined)(ask(host))).toEqual({ url: 'https://localhost', host: 'localhost' });
    },
  );
});
