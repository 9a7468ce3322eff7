import fc from 'fast-check';

import { addGasMargin } from './gas.js';

const LARGE = 3_000_000_000n;

describe('the gas limit of a transaction', () => {
  it.each([
    [21_000n, LARGE, 31_500n, 'half as much again'],
    [12_000_000n, 12_500_000n, 12_500_000n, 'at most the gas of a block'],
    [12_000_000n, LARGE, 16_777_216n, 'at most what the Osaka rules allow for a transaction'],
    [20_000_000n, LARGE, 20_000_000n, 'without a margin above that, on a chain without those rules'],
    [20_000_000n, 12_500_000n, 20_000_000n, 'the estimate, although no block has room: the node says so'],
  ])('for %s in a block of %s is %s: %s', (estimate, block, limit) => {
    expect(addGasMargin(estimate, block)).toBe(limit);
  });

  it('is never below the estimate, and its margin never exceeds a cap', () => {
    fc.assert(
      fc.property(fc.bigInt(21_000n, 10n ** 8n), fc.bigInt(10n ** 6n, 10n ** 9n), (estimate, block) => {
        const limit = addGasMargin(estimate, block);
        expect(limit >= estimate).toBe(true);
        expect(limit === estimate || (limit <= block && limit <= 2n ** 24n)).toBe(true);
      }),
    );
  });
});
