import fc from 'fast-check';

import { PaidPath, parsePathPattern } from '../../paywall/route/paid-path.js';
import { UpstreamPath, UpstreamPathError } from './upstream-path.js';

/** Null where the paywall refuses the request. */
function map(route: string, upstream: string, target: string, stripPrefix = ''): string | null {
  const requested = PaidPath.parse(route).read(target);
  return requested && new UpstreamPath(parsePathPattern(route), upstream, stripPrefix).fill(requested.sent);
}

describe('UpstreamPath', () => {
  it.each([
    ['/items', '/', '/items/', '', '/items/'],
    ['/items', '/', '//Items', '', '/items'],
    ['/items', '/api/', '/items/', '', '/api/items/'],
    ['/', '/', '/', '', '/'],
    ['/', '/internal', '/', '', '/internal'],
    ['/', '/internal/', '/', '', '/internal/'],
    ['/v1/quotes/:symbol', '/', '/v1/quotes/SEI', '', '/v1/quotes/SEI'],
    ['/v1/quotes/:symbol', '/internal/', '/v1/quotes/SEI/', '', '/internal/v1/quotes/SEI/'],
    ['/v1/quotes/:symbol', '/internal', '/v1/quotes/a:b%20c', '/v1', '/internal/quotes/a:b%20c'],
    ['/v1/quotes', '/', '/v1/quotes', '/v1/quotes', '/'],
    ['/v1/quotes', '/list', '/v1/quotes/', '/v1/quotes', '/list/'],
    ['/v1/quotes', '/list/', '/v1/quotes', '/v1/quotes', '/list/'],
    ['/files/*', '/', '/files/a/b%20c/d', '/files', '/a/b%20c/d'],
    ['/files/*', '/', '/files//etc', '/files', '/etc'],
    ['/files/*', '/store', '/files/a/', '', '/store/files/a/'],
    ['/read/*', '/', '/read/https://a.example/b', '/read', '/https://a.example/b'],
    ['/q/:symbol', '/api/:symbol/last', '/q/%c3%a4%3F%23/', '', '/api/%c3%a4%3F%23/last'],
    ['/q/:symbol', '/api/:symbol', '/q/x/', '', '/api/x'],
    ['/q/:symbol', '/api/:symbol/', '/q/x', '', '/api/x/'],
    ['/q/:a/:b', '/api/:b/:a', '/q/1:1/2%2C', '', '/api/2%2C/1:1'],
    ['/q/*', '/api/*', '/q/x/y/', '', '/api/x/y/'],
    ['/q/*', '/api/*', '/q/a:x//y', '', '/api/a:x//y'],
  ])('%s on %s, asked for %s, stripped of "%s": %s', (route, upstream, target, strip, expected) => {
    expect(map(route, upstream, target, strip)).toBe(expected);
  });

  it.each([
    ['/q/:a', '/api/:b', ''],
    ['/q/:a', '/api/*', ''],
    ['/q/*', '/api/*/x', ''],
    ['/q/:a', '/api/:a', '/q'],
    ['/q/:a', '/api', '/other'],
    ['/q/:a', '/api', '/q/:a'],
    ['/q/:a', '/api', '/q/a/b'],
  ])('refuses the mapping of %s to %s without "%s"', (route, upstream, strip) => {
    expect(() => new UpstreamPath(parsePathPattern(route), upstream, strip)).toThrow(UpstreamPathError);
  });

  it('keeps a parameter in its place, however an upstream decodes', () => {
    const pieces = [
      '.',
      '..',
      '/',
      '\\',
      '%',
      '%2e',
      '%2F',
      '%5c',
      '%25',
      '%32',
      '%66',
      '25',
      '2e',
      '2f',
      ';',
      '%3b',
      '%3f',
      '%00',
      '%c3%a4',
      'a',
    ];
    const part = fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 3 }));
    // What ends a path, and what no request line holds, never reaches a route.
    const tricky = fc.array(part).map((parts) => parts.join('').replaceAll(/[^!-~]|[?#]/g, ''));
    fc.assert(
      fc.property(tricky, tricky, (text, tail) => {
        const [symbol, rest] = [text.replaceAll('/', ''), tail.replace(/^\/+/, '')];
        fc.pre(symbol !== '');
        const path = map('/q/:symbol/*', '/base', `/q/${symbol}/${rest}`);
        if (path === null) return;
        expect(path).toMatch(/^[!-~]+$/);
        for (let reading = path; ;) {
          const { pathname, hash, search } = new URL(reading, 'http://upstream');
          if (reading === path) expect(hash + search).toBe('');
          expect(pathname.startsWith('/base/q/')).toBe(true);
          expect(pathname.split('/').slice(3)).toHaveLength(1 + rest.split('/').length);
          const next = reading
            .replace(/%(?!3f|23|0[9ad])([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
            .replaceAll('\\', '/');
          if (next === reading || /[?#\s]/.test(next)) break;
          reading = next;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
