import { PaidPath } from './paid-path.js';

describe('PaidPath', () => {
  it('recognises a path without parameters', () => {
    expect(PaidPath.parse('/api/weather').literal).toBe('/api/weather');
    expect(PaidPath.parse('/').literal).toBe('/');
    expect(PaidPath.parse('/a/:b').literal).toBeNull();
  });

  it.each([
    ['/v1/quotes/:symbol', { symbol: 'BTC' }, '/v1/quotes/BTC'],
    ['/v1/quotes/:symbol', { symbol: 'a b?c#d%2e' }, '/v1/quotes/a%20b%3Fc%23d%252e'],
    ['/v1/quotes/:symbol', { symbol: 'user@host:1' }, '/v1/quotes/user@host:1'],
    ['/files/*', { '*': 'a/b.txt' }, '/files/a/b.txt'],
    ['/files/*', { '*': 'naïve/ü' }, '/files/na%C3%AFve/%C3%BC'],
  ])('%s with %j is %s', (pattern, params, path) => {
    expect(PaidPath.parse(pattern).fill(params as Record<string, string>)).toBe(path);
  });

  it.each(['..', '../admin', 'a/../../admin', 'a/./b', 'a//b', '', 'a\\b', 'a\u0000b', 'a\r\nb', '\ud800'])(
    'refuses %j, which an upstream may read as another path',
    (rest) => {
      expect(PaidPath.parse('/files/*').fill({ '*': rest })).toBeNull();
    },
  );

  it.each(['BTC/history', '/', '../x', 'a%2Fb', 'a%25252Fb', '%252e.', '..;x', '%5c'])(
    'refuses %j for one segment, which an upstream may read as several',
    (symbol) => {
      expect(PaidPath.parse('/v1/quotes/:symbol').fill({ symbol })).toBeNull();
    },
  );

  it('judges a segment that is encoded 30,000 times in one pass', () => {
    const before = process.cpuUsage();
    expect(PaidPath.parse('/files/*').fill({ '*': `%${'25'.repeat(30_000)}2f` })).toBeNull();
    // A pass for each encoding takes seconds, one pass less than a millisecond.
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  it.each(['files', '/a/*/b', '/a/:b-:c', '/a/:id(\\d+)', '/a/..', '/a//b', '/a/b?', '/a%2fb'])(
    'refuses the pattern %s',
    (pattern) => {
      expect(() => PaidPath.parse(pattern)).toThrow(TypeError);
    },
  );
});
