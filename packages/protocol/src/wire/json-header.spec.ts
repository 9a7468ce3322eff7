import { decodeJsonHeader, encodeJsonHeader } from './json-header.js';

/** So many objects inside another. */
const nest = (depth: number): object => (depth === 0 ? {} : { inner: nest(depth - 1) });

describe('decodeJsonHeader', () => {
  // Prevents: a header of 15 KB that is written again as JSON exhausts the stack, or becomes megabytes of indentation.
  it('refuses a value that is nested too deep to be written again', () => {
    const value = nest(63);
    expect(decodeJsonHeader(encodeJsonHeader(value), 16_384)).toEqual(value);
    expect(() => decodeJsonHeader(encodeJsonHeader(nest(64)), 16_384)).toThrow('nested more than 64 deep');
    const deep = Buffer.from(`{"a":${'['.repeat(5_500)}${']'.repeat(5_500)}}`).toString('base64');
    expect(() => decodeJsonHeader(deep, 16_384)).toThrow('nested more than 64 deep');
  });
});
