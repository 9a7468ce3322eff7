import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST_CHARACTER = 0x10ffff;

/** The unit `binary` of fast-check means the same, and first makes a table of all characters. */
export const anyCharacter = fc.nat(LAST_CHARACTER - SURROGATES.count).map(
  (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  (text) => {
    const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (code === undefined || text !== String.fromCodePoint(code)) throw new Error('It is not one character.');
    return code < SURROGATES.first ? code : code - SURROGATES.count;
  },
);

export const anyText = fc.string({ unit: anyCharacter });
