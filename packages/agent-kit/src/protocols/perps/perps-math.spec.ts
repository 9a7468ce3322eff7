import fc from 'fast-check';

import { formatSigned } from './describe-perps.js';
import { feeOf, limitPriceFor, notionalBaseUnits, openingCost } from './perps-math.js';

const prices = fc.bigInt({ min: 1n, max: 10n ** 30n });
const quantities = fc.bigInt({ min: 1n, max: 10n ** 30n });
const marginDecimals = fc.constantFrom(6, 8, 18);

describe('the arithmetic of an order', () => {
  it('gives the price of a whole unit, in units of the margin token', () => {
    expect(notionalBaseUnits(10n ** 18n, 60_000n * 10n ** 18n, 6)).toBe(60_000_000_000n);
    expect(notionalBaseUnits(10n ** 15n, 60_000n * 10n ** 18n, 8)).toBe(6_000_000_000n);
    expect(notionalBaseUnits(1n, 1n, 18)).toBe(1n);
  });

  it('is never below the exact value, and less than a unit above', () => {
    fc.assert(
      fc.property(quantities, prices, marginDecimals, (quantity, price, decimals) => {
        const scaled = notionalBaseUnits(quantity, price, decimals) * 10n ** BigInt(36 - decimals);
        expect(scaled).toBeGreaterThanOrEqual(quantity * price);
        expect(scaled - quantity * price).toBeLessThan(10n ** BigInt(36 - decimals));
      }),
    );
  });

  it('never accepts a price beyond the tolerance, and loses less than a unit of it', () => {
    fc.assert(
      fc.property(prices, fc.integer({ min: 0, max: 5_000 }), (price, bps) => {
        const tolerance = price * BigInt(bps);
        const above = (limitPriceFor(price, bps, true) - price) * 10_000n;
        const below = (price - limitPriceFor(price, bps, false)) * 10_000n;
        for (const distance of [above, below]) {
          expect(distance).toBeLessThanOrEqual(tolerance);
          expect(tolerance - distance).toBeLessThan(10_000n);
        }
      }),
    );
  });

  it('requires enough margin and fee at every leverage', () => {
    fc.assert(
      fc.property(
        quantities,
        fc.integer({ min: 1, max: 20 }),
        fc.bigInt({ min: 0n, max: 1_000n }),
        (worth, times, bps) => {
          const { margin, fee, total } = openingCost(worth, times, bps);
          expect(margin * BigInt(times)).toBeGreaterThanOrEqual(worth);
          expect((margin - 1n) * BigInt(times)).toBeLessThan(worth);
          expect(fee).toBe(feeOf(worth, bps));
          expect(fee * 10_000n).toBeGreaterThanOrEqual(worth * bps);
          expect(total).toBe(margin + fee);
        },
      ),
    );
  });

  it.each([
    [-1n, 6, '-0.000001'],
    [-1_500_000n, 6, '-1.5'],
    [0n, 6, '0'],
    [2_000_000n, 6, '2'],
  ])('writes %d with %d decimals as %s', (value, decimals, text) => {
    expect(formatSigned(value, decimals)).toBe(text);
  });
});
