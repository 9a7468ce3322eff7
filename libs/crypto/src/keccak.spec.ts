import fc from 'fast-check';
import { bytesToHex, keccak256 as hashInJavaScript } from 'viem';

import { keccak256, keccak256Hex, loadKeccak } from './keccak.js';

describe('keccak256', () => {
  it('is that of a general library before the WASM is loaded, and afterwards', async () => {
    const bytes = Buffer.from('tollgate');
    const expected = hashInJavaScript(bytes, 'bytes');
    expect([...keccak256(bytes)]).toEqual([...expected]);
    await loadKeccak();
    expect([...keccak256(bytes)]).toEqual([...expected]);
  });

  it('is that of a general library for any bytes', async () => {
    await loadKeccak();
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 600 }), fc.uint8Array({ minLength: 30_000, maxLength: 40_000 }));
    fc.assert(
      fc.property(bytes, (array) => {
        const expected = hashInJavaScript(array, 'bytes');
        expect([...keccak256(array)]).toEqual([...expected]);
        expect(keccak256Hex(bytesToHex(array))).toBe(bytesToHex(expected));
      }),
      { numRuns: 100 },
    );
  });

  it('leaves an earlier hash as it was', async () => {
    await loadKeccak();
    const first = keccak256(Buffer.from('1'));
    const copy = [...first];
    keccak256(Buffer.from('2'));
    expect([...first]).toEqual(copy);
  });
});
