import fc from 'fast-check';

import { anyCharacter, anyText } from '../../../../test/harness/any-text.js';
import { decodeBase64, encodeBase64 } from './base64.js';

describe('base64', () => {
  it('encodes like other implementations', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(encodeBase64(text)).toBe(Buffer.from(text, 'utf8').toString('base64'));
      }),
    );
  });

  it('decodes standard, url-safe and unpadded spellings of the same text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const standard = Buffer.from(text, 'utf8').toString('base64');
        expect(decodeBase64(standard)).toBe(text);
        expect(decodeBase64(standard.replace(/=+$/, ''))).toBe(text);
        expect(decodeBase64(Buffer.from(text, 'utf8').toString('base64url'))).toBe(text);
        expect(decodeBase64(` ${standard}\n`)).toBe(text);
      }),
    );
  });

  it('returns null or text for any input, never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (garbage) => {
        expect(['string', 'object']).toContain(typeof decodeBase64(garbage));
      }),
    );
  });

  it.each(['A', 'AA=A', 'AA A', 'é', '====', 'A===', '/w==' /* 0xff is not UTF-8 */])('refuses %j', (text) => {
    expect(decodeBase64(text)).toBeNull();
  });
});
