import { priceOf, toBaseUnits, toWholeBaseUnits } from './price-of.js';

describe('the price of a route in an option', () => {
  it.each([
    ['0.01', 6, '1', 10_000n],
    ['123456789012.100001', 6, '1', 123_456_789_012_100_001n],
    ['0.01', 18, '0.00026', 2_600_000_000_000n],
    ['2.50', 0, '4', 10n],
    ['1', 6, '1.000000', 1_000_000n],
    ['0.000001', 12, '999999999999999999.5', 999_999_999_999_999_999_500_000n],
  ])('%s with %i decimals at the rate %s is %s base units', (price, decimals, rate, expected) => {
    expect(priceOf({ price }, { decimals, rate })).toBe(expected);
  });

  it.each([
    ['0.001234', 6, '0.92', 1_135n],
    ['0.009', 2, '1', 0n],
    ['0.019', 2, '1', 1n],
    ['7', 0, '0.5', 3n],
    ['0.5', 6, '1', 500_000n],
  ])('charges %s with %i decimals at the rate %s as %s base units', (amount, decimals, rate, expected) => {
    expect(toWholeBaseUnits(amount, { decimals, rate })).toBe(expected);
  });

  it.each([
    ['0.0000001', 6, '1'],
    ['0.01', 6, '0.00001'],
    ['1e3', 6, '2'],
    ['-1', 6, '2'],
  ])('refuses %s with %i decimals at the rate %s', (amount, decimals, rate) => {
    expect(() => toBaseUnits(amount, { decimals, rate })).toThrow(/Token amount/);
  });
});
