import { toBaseUnits } from './base-units.js';

const MOST = 2n ** 256n - 1n;

describe("an amount in the seller's unit, in base units of a token", () => {
  it.each([
    ['0.01', 18, '0.00026', 2_600_000_000_000n],
    ['2.50', 0, '4', 10n],
    ['1', 6, '1.000000', 1_000_000n],
    ['0.5', 6, '1', 500_000n],
    ['0.50000000', 6, '1', 500_000n],
    ['0', 6, '0.92', 0n],
    ['0.000001', 12, '999999999999999999.5', 999_999_999_999_999_999_500_000n],
    [String(MOST), 0, '1', MOST],
  ])('of %s with %i decimals at the rate %s is %s, however it is rounded', (amount, decimals, rate, expected) => {
    for (const rounding of ['down', 'up', 'refused'] as const)
      expect(toBaseUnits(amount, { decimals, rate }, rounding)).toBe(expected);
  });

  it.each([
    ['0.001234', 6, '0.92', 1_135n],
    ['0.009', 2, '1', 0n],
    ['0.019', 2, '1', 1n],
    ['7', 0, '0.5', 3n],
    ['0.0000001', 6, '1', 0n],
  ])('of %s with %i decimals at the rate %s is between %s and the next', (amount, decimals, rate, below) => {
    expect(toBaseUnits(amount, { decimals, rate }, 'down')).toBe(below);
    expect(toBaseUnits(amount, { decimals, rate }, 'up')).toBe(below + 1n);
    expect(() => toBaseUnits(amount, { decimals, rate }, 'refused')).toThrow(/Token amount .* has more than/);
  });

  it.each(['', '1e3', '-1', ' 1', '1.', '.5', '0x1', '1,5', 'NaN'])('of "%s" is refused', (amount) => {
    for (const rate of ['1', '0.5'])
      for (const rounding of ['down', 'up', 'refused'] as const)
        expect(() => toBaseUnits(amount, { decimals: 0, rate }, rounding)).toThrow(/is not a decimal number/);
  });

  it('has at most 256 bits, also when it is rounded up', () => {
    for (const rounding of ['down', 'up', 'refused'] as const)
      expect(() => toBaseUnits(String(MOST + 1n), { decimals: 0, rate: '1' }, rounding)).toThrow(/256 bits/);
    expect(toBaseUnits(`${MOST}.5`, { decimals: 0, rate: '1' }, 'down')).toBe(MOST);
    expect(() => toBaseUnits(`${MOST}.5`, { decimals: 0, rate: '1' }, 'up')).toThrow(/256 bits/);
  });
});
