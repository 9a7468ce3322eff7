import fc from 'fast-check';

import { PaymentError } from './payment-error.js';
import { formatTokenAmount, formatTokenSum, MAX_UINT256, parseTokenAmount } from './token-amount.js';

describe('parseTokenAmount', () => {
  it.each([
    ['0.001', 6, 1000n],
    ['1', 6, 1_000_000n],
    ['0', 6, 0n],
    ['007.50', 6, 7_500_000n],
    ['5', 0, 5n],
    ['1.0', 0, 1n],
    ['0.00100000', 3, 1n],
    ['115792089237316195423570985008687907853269984665640564039457584007913129639935', 0, MAX_UINT256],
  ])('reads %s with %d decimals', (text, decimals, expected) => {
    expect(parseTokenAmount(text, decimals)).toBe(expected);
  });

  it.each([
    ['', 6],
    ['-1', 6],
    ['+1', 6],
    ['1e3', 6],
    ['NaN', 6],
    ['Infinity', 6],
    ['0x10', 6],
    ['1.', 6],
    ['.5', 6],
    ['1,5', 6],
    [' 1', 6],
    ['١', 6],
    ['0.0000001', 6],
    ['1.01', 1],
    ['1.5', 0],
    ['115792089237316195423570985008687907853269984665640564039457584007913129639936', 0],
    ['9'.repeat(1_000_000), 6],
    ['1', -1],
    ['1', 256],
    ['1', 1.5],
  ])('refuses %.20s with %d decimals', (text, decimals) => {
    expect(() => parseTokenAmount(text, decimals)).toThrow(PaymentError);
  });

  it('refuses what is not a string', () => {
    for (const value of [1, null, undefined, {}, ['1']]) {
      expect(() => parseTokenAmount(value as never, 6)).toThrow(expect.objectContaining({ code: 'invalid_amount' }));
    }
  });

  it('is the inverse of formatTokenAmount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MAX_UINT256 }), fc.integer({ min: 0, max: 255 }), (baseUnits, decimals) => {
        expect(parseTokenAmount(formatTokenAmount(baseUnits, decimals), decimals)).toBe(baseUnits);
      }),
    );
  });

  it('returns an amount or invalid_amount for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+0-9.eE]{0,90}$/)), (text) => {
        try {
          expect(parseTokenAmount(text, 6)).toBeGreaterThanOrEqual(0n);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_amount', hint: expect.any(String) });
        }
      }),
    );
  });
});

describe('formatTokenAmount', () => {
  it.each([
    [1000n, 6, '0.001'],
    [1_000_000n, 6, '1'],
    [0n, 6, '0'],
    [0n, 0, '0'],
    [1n, 18, '0.000000000000000001'],
  ])('writes %d with %d decimals', (baseUnits, decimals, expected) => {
    expect(formatTokenAmount(baseUnits, decimals)).toBe(expected);
  });

  it('refuses a negative number', () => {
    expect(() => formatTokenAmount(-1n, 6)).toThrow('Token amount "-1" is negative.');
  });
});

describe('formatTokenSum', () => {
  it.each([
    [-1000n, '-0.001'],
    [-1_000_000n, '-1'],
    [0n, '0'],
    [1000n, '0.001'],
  ])('writes %d with 6 decimals', (baseUnits, expected) => {
    expect(formatTokenSum(baseUnits, 6)).toBe(expected);
  });
});
