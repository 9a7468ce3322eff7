import fc from 'fast-check';

import { anyCharacter } from '../../../../test/harness/any-text.js';
import { canonicalJson } from './canonical-json.js';

describe('canonicalJson', () => {
  it('is JSON of the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is the same text however objects were built', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), (value, seed) => {
        expect(canonicalJson(shuffle(value, seed))).toBe(canonicalJson(value));
      }),
    );
  });

  it('is another text for another value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const areEqual = (() => {
          try {
            expect(JSON.parse(JSON.stringify(one))).toEqual(JSON.parse(JSON.stringify(other)));
            return true;
          } catch {
            return false;
          }
        })();
        expect(canonicalJson(one) === canonicalJson(other)).toBe(areEqual);
      }),
    );
  });

  it('sorts the members of every object by code units', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: anyCharacter, maxLength: 4 }), fc.constant(1)), (value) => {
        const names = [...canonicalJson(value).matchAll(/("(?:[^"\\]|\\.)*"):1/g)].map(
          ([, name]) => JSON.parse(name!) as string,
        );
        expect(names).toEqual(Object.keys(value).sort());
      }),
    );
  });

  it.each([
    [{ 10: 'a', 9: 'b', a: 'c', B: 'd' }, '{"10":"a","9":"b","B":"d","a":"c"}'],
    [{ b: undefined, a: [1.0, -0, 1e21, 'ü\ud800"'] }, '{"a":[1,0,1e+21,"ü\\ud800\\""]}'],
    [JSON.parse('{"b":1,"__proto__":{"z":1,"y":2}}'), '{"__proto__":{"y":2,"z":1},"b":1}'],
    [Object.assign(Object.create(null), { a: null }), '{"a":null}'],
    ['text', '"text"'],
  ])('writes %j as %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  const cycle: unknown[] = [];
  cycle.push(cycle);
  it.each([
    ['a bigint', 1n],
    ['NaN', { a: NaN }],
    ['infinity', [Infinity]],
    ['a date', { at: new Date(0) }],
    ['a map', new Map([['a', 1]])],
    ['undefined', undefined],
    ['undefined in an array', [undefined]],
    ['a function', { a: () => 1 }],
    ['a symbol', Symbol('a')],
    ['a cycle', cycle],
    ['a very deeply nested value', JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)],
  ])('refuses %s', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });
});

/** The same value with the members of its objects in another order. */
function shuffle(value: unknown, seed: number): unknown {
  if (Array.isArray(value)) return value.map((member) => shuffle(member, seed));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, shuffle(member, seed)] as const);
  const cut = entries.length === 0 ? 0 : seed % entries.length;
  const turned = [...entries.slice(cut), ...entries.slice(0, cut)];
  return Object.fromEntries(seed % 2 === 0 ? turned : turned.reverse());
}
