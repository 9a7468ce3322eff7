import { parseIdempotencyKey } from './idempotency-key.js';

// Structured field strings: RFC 9651, section 3.3.3.
describe('an Idempotency-Key header', () => {
  it.each([
    ['order-17', 'order-17'],
    ['"order-17"', 'order-17'],
    [String.raw`"a\"b\\c"`, String.raw`a"b\c`],
    ['a"b', 'a"b'],
    [`"${'k'.repeat(255)}"`, 'k'.repeat(255)],
  ])('of %s names the key %s', (value, key) => {
    expect(parseIdempotencyKey(value)).toBe(key);
  });

  it.each(['', '""', '"order-17', '"order"17"', String.raw`"a\b"`, 'order 17', '"order 17"', `"${'k'.repeat(256)}"`])(
    'is refused when it is %j',
    (value) => {
      expect(parseIdempotencyKey(value)).toBeNull();
    },
  );
});
