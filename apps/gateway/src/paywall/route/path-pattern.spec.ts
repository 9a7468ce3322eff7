import { overlap, parameterNames, parsePathPattern, PathPatternError } from './paid-path.js';

describe('parsePathPattern', () => {
  it('reads text, parameters and the rest', () => {
    const pattern = parsePathPattern('/v1/:symbol/*');
    expect(pattern).toEqual([{ kind: 'text', text: 'v1' }, { kind: 'parameter', name: 'symbol' }, { kind: 'rest' }]);
    expect(parameterNames(pattern)).toEqual(['symbol', '*']);
    expect(parsePathPattern('/')).toEqual([]);
  });

  it.each([
    ['quotes', 'must start with /'],
    ['/quotes/', 'must not end with /'],
    ['/a//b', 'two slashes'],
    ['/*/b', '* only at its end'],
    ['/a*', 'fixed parts are'],
    ['/:a/:a', 'names :a twice'],
    ['/:a-:b', 'a parameter is'],
    ['/:id(\\d+)', 'a parameter is'],
    ['/:id?', 'a parameter is'],
    ['/:', 'a parameter is'],
    ['/:__proto__', 'a parameter is'],
    ['/a b', 'fixed parts are'],
    ['/a%20b', 'fixed parts are'],
    ['/a?b=c', 'fixed parts are'],
    ['/a/..', 'refers to another path'],
    ['/ä', 'fixed parts are'],
  ])('refuses %s: %s', (path, message) => {
    expect(() => parsePathPattern(path)).toThrow(PathPatternError);
    expect(() => parsePathPattern(path)).toThrow(message);
  });
});

describe('overlap', () => {
  it.each([
    ['/a', '/a', true],
    ['/a', '/A', true],
    ['/a', '/b', false],
    ['/a', '/a/b', false],
    ['/a/:x', '/a/:y', true],
    ['/a/:x', '/a/b', true],
    ['/a/:x', '/a', false],
    ['/a/:x/c', '/a/b/:y', true],
    ['/a/:x/c', '/a/b/d', false],
    ['/a/*', '/a/b/c', true],
    ['/a/*', '/a', false],
    ['/a/*', '/b/*', false],
    ['/*', '/a/:x', true],
    ['/', '/', true],
    ['/', '/*', false],
  ])('of %s and %s is %s', (a, b, expected) => {
    expect(overlap(parsePathPattern(a), parsePathPattern(b))).toBe(expected);
    expect(overlap(parsePathPattern(b), parsePathPattern(a))).toBe(expected);
  });
});
