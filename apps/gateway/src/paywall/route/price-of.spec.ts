import { priceOf } from './price-of.js';

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

  it('is refused where it is no whole number of base units', () => {
    expect(() => priceOf({ price: '0.01' }, { decimals: 6, rate: '0.00001' })).toThrow(/Token amount/);
  });
});
