import fc from 'fast-check';

import { anyText } from '../../../../../test/harness/any-text.js';
import { parsePathPattern } from '../../paywall/route/paid-path.js';
import { UpstreamError } from '../../paywall/route/paid-route.js';
import { UpstreamPath, UpstreamPathError } from './upstream-path.js';

function map(route: string, upstream: string, parameters: Record<string, string>, stripPrefix = ''): string {
  return new UpstreamPath(parsePathPattern(route), upstream, stripPrefix).fill(parameters);
}

describe('UpstreamPath', () => {
  it.each([
    ['/v1/quotes/:symbol', '/', { symbol: 'SEI' }, '', '/v1/quotes/SEI'],
    ['/v1/quotes/:symbol', '/internal/', { symbol: 'SEI' }, '', '/internal/v1/quotes/SEI'],
    ['/v1/quotes/:symbol', '/internal', { symbol: 'SEI' }, '/v1', '/internal/quotes/SEI'],
    ['/v1/quotes', '/', {}, '/v1/quotes', '/'],
    ['/v1/quotes', '/list/', {}, '/v1/quotes', '/list/'],
    ['/files/*', '/', { '*': 'a/b c/d' }, '/files', '/a/b%20c/d'],
    ['/files/*', '/store', { '*': 'a/' }, '', '/store/files/a/'],
    ['/files/*', '/store', { '*': '' }, '/files', '/store/'],
    ['/q/:symbol', '/api/:symbol/last', { symbol: 'ä/?#'.replace('/', '') }, '', '/api/%C3%A4%3F%23/last'],
    ['/q/:symbol', '/api/:symbol/', { symbol: 'x' }, '', '/api/x/'],
    ['/q/:a/:b', '/api/:b/:a', { a: '1', b: '2' }, '', '/api/2/1'],
    ['/q/*', '/api/*', { '*': 'x/y' }, '', '/api/x/y'],
  ])('%s on %s with %j, stripped of "%s": %s', (route, upstream, parameters, strip, expected) => {
    expect(map(route, upstream, parameters as Record<string, string>, strip)).toBe(expected);
  });

  it.each([
    ['..'],
    ['.'],
    [''],
    ['a/b'],
    ['..\\x'],
    ['%2e%2e'],
    ['%2E.'],
    ['%252e%252e'],
    ['%252525252e.'],
    ['a%2fb'],
    ['a%5Cb'],
    ['..;x=1'],
    ['..%3bx'],
    ['a\u0000'],
    ['a\r\nb'],
    ['a\u007f'],
    ['\ud800'],
  ])('refuses the parameter %j', (value) => {
    expect(() => map('/q/:symbol', '/', { symbol: value })).toThrow(UpstreamError);
  });

  it.each([['/etc/passwd'], ['a//b'], ['a/../b'], ['a/%2e%2e/b'], ['..'], ['a/..'], ['a\\..\\b']])(
    'refuses the rest %j',
    (rest) => {
      expect(() => map('/files/*', '/pub', { '*': rest })).toThrow(UpstreamError);
    },
  );

  it('keeps parameters that only look dangerous', () => {
    expect(map('/q/:symbol', '/', { symbol: '...' })).toBe('/q/...');
    expect(map('/q/:symbol', '/', { symbol: '100%' })).toBe('/q/100%25');
    expect(map('/q/:symbol', '/', { symbol: 'a..b' })).toBe('/q/a..b');
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
    const tricky = fc.oneof(
      anyText,
      fc
        .array(
          fc.constantFrom(
            '.',
            '..',
            '/',
            '\\',
            '%',
            '%2e',
            '%2F',
            '%5c',
            '%25',
            '2e',
            '2f',
            ';',
            '?',
            '#',
            'a',
            '\0',
            ' ',
          ),
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(tricky, tricky, (symbol, rest) => {
        let path: string;
        try {
          path = map('/q/:symbol/*', '/base', { symbol, '*': rest });
        } catch (error) {
          expect(error).toBeInstanceOf(UpstreamError);
          return;
        }
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
