import { MAX_UINT256 } from '@tollgate/protocol';
import fc from 'fast-check';

import { subtractSlippage } from './amount-math.js';

describe('subtractSlippage', () => {
  it.each([
    [10_000n, 100, 9_900n],
    [10_001n, 100, 9_901n],
    [1n, 100, 1n],
    [1n, 10_000, 1n],
    [123n, 0, 123n],
    [0n, 100, 0n],
  ])('of %d with %d basis points leaves %d', (amount, slippageBps, expected) => {
    expect(subtractSlippage(amount, slippageBps)).toBe(expected);
  });

  it('never leaves 0, never exceeds the expected amount, and never concedes more than the tolerance', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: MAX_UINT256 }), fc.integer({ min: 0, max: 10_000 }), (amount, bps) => {
        const least = subtractSlippage(amount, bps);
        expect(least).toBeGreaterThan(0n);
        expect(least).toBeLessThanOrEqual(amount);
        expect((amount - least) * 10_000n).toBeLessThanOrEqual(amount * BigInt(bps));
      }),
    );
  });
});
