import { PaidPath } from './paid-path.js';

describe('PaidPath', () => {
  it('recognises a path without parameters', () => {
    expect(PaidPath.parse('/api/weather').literal).toBe('/api/weather');
    expect(PaidPath.parse('/').literal).toBe('/');
    expect(PaidPath.parse('/a/:b').literal).toBeNull();
  });

  it.each([
    ['/items', '/items', '/items', '/items'],
    ['/items', '//ITEMS//?a=/b', '/items', '/items/'],
    ['/items', 'http://gate.example/%69tems/#x', '/items', '/items/'],
    ['/', 'HTTP://gate.example?x', '/', '/'],
    ['/v1/quotes/:symbol', '/V1//quotes//BTC', '/v1/quotes/BTC', '/v1/quotes/BTC'],
    ['/v1/quotes/:symbol', '/v1/quotes/BTC///', '/v1/quotes/BTC', '/v1/quotes/BTC/'],
    ['/models/:model', '/models/a:generate', '/models/a:generate', '/models/a:generate'],
    ['/models/:model', '/models/a%3agenerate', '/models/a:generate', '/models/a%3agenerate'],
    ['/q/:a', "/q/-._~!$&'()*+,;=:@", "/q/-._~!$&'()*+,;=:@", "/q/-._~!$&'()*+,;=:@"],
    ['/q/:a', '/q/a%20b%3Fc%23d', '/q/a%20b%3Fc%23d', '/q/a%20b%3Fc%23d'],
    ['/q/:a', '/q/a"<>[]^`{|}', '/q/a%22%3C%3E%5B%5D%5E%60%7B%7C%7D', '/q/a%22%3C%3E%5B%5D%5E%60%7B%7C%7D'],
    ['/q/:a', '/q/100%25', '/q/100%25', '/q/100%25'],
    ['/q/:a', '/q/100%2525', '/q/100%2525', '/q/100%2525'],
    ['/q/:a', '/q/na%c3%afve', '/q/na%C3%AFve', '/q/na%c3%afve'],
    ['/q/:a', '/q/...', '/q/...', '/q/...'],
    ['/q/:a/raw', '/q/%7Ea/RAW/', '/q/~a/raw', '/q/%7Ea/raw/'],
    ['/files/*', '/files/a/b.txt', '/files/a/b.txt', '/files/a/b.txt'],
    ['/files/*', '/Files//a/', '/files/a', '/files/a/'],
    ['/read/*', '/read/https://a.example//b', '/read/https:/a.example/b', '/read/https://a.example//b'],
  ])('%s reads %s as %s, and asks for %s', (pattern, target, canonical, sent) => {
    expect(PaidPath.parse(pattern).read(target)).toMatchObject({ canonical, sent: { path: sent } });
  });

  it('gives each parameter as it was sent', () => {
    const params = { a: 'x%2Cy', '*': 'b//c%20d/' };
    expect(PaidPath.parse('/q/:a/*').read('/Q/x%2Cy//b//c%20d/?e')?.sent.params).toEqual(params);
  });

  const unsafe = [
    ...['.', '..', '..;', '.;x=1', '..;x', 'a\\b', 'a\\..\\b'],
    ...['%2e', '%2E%2e', '%2e.', 'a%2eb', 'x%2Fhistory', '%2f', '%5c', 'a%5Cb', '..%3bx', 'a%3Bx=1'],
    ...['%252e%252e', 'a%252Fb', 'a%25252Fb', '%25252525252e', 'a%255cb', 'a%253b', '100%25252F'],
    // A digit of the inner encoding is encoded on its own.
    ...['a%25%32%66b', '%252%66', '%25%32e', '%255%63', '%25%33b', '%25%32%35%32%66', '%2525%2532%2566'],
    ...['a%00', 'a%0d%0ab', 'a%7F', '%c2%85', 'a%01'],
    ...['%ff', 'a%c0%af', '%ed%a0%80', '%f4%90%80%80', '%', 'a%2', '%zz', '%u002e'],
  ];

  it.each(unsafe)('refuses %s, which an upstream may read as another path', (segment) => {
    expect(PaidPath.parse('/v1/quotes/:symbol').read(`/v1/quotes/${segment}`)).toBeNull();
    expect(PaidPath.parse('/q/:a/raw').read(`/q/${segment}/raw`)).toBeNull();
    for (const rest of [segment, `a/${segment}`, `${segment}/b`, `a//${segment}/`]) {
      expect(PaidPath.parse('/files/*').read(`/files/${rest}`)).toBeNull();
    }
  });

  it.each(['/files/', '/files//', '/files'])('refuses %s, where nothing is asked for', (target) => {
    expect(PaidPath.parse('/files/*').read(target)).toBeNull();
    expect(PaidPath.parse('/files/:name').read(target)).toBeNull();
  });

  it.each([`%${'25'.repeat(30_000)}2f`, '%25'.repeat(30_000) + '%2f', `${'/'.repeat(30_000)}%2f`])(
    'judges a segment that is encoded 30,000 times in one pass',
    (rest) => {
      const before = process.cpuUsage();
      expect(PaidPath.parse('/files/*').read(`/files/${rest}`)).toBeNull();
      // A pass for each encoding takes seconds, one pass less than a millisecond.
      expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
    },
  );

  it.each(['files', '/a/*/b', '/a/:b-:c', '/a/:id(\\d+)', '/a/..', '/a//b', '/a/b?', '/a%2fb'])(
    'refuses the pattern %s',
    (pattern) => {
      expect(() => PaidPath.parse(pattern)).toThrow(TypeError);
    },
  );
});
