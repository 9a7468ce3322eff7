import { findRefundable, type RefundBounds } from './find-refundable.js';

const OPEN: RefundBounds = {
  tokens: 1000n,
  caps: { each: null, perPayerAndDay: null, perKeyAndDay: null, perDay: null },
  refundedToday: 0n,
  limit: null,
};
const capped = (caps: Partial<RefundBounds['caps']>): Partial<RefundBounds> => ({ caps: { ...OPEN.caps, ...caps } });
const limited = (perOperation: string | null, leftToday: string | null): Partial<RefundBounds> => ({
  limit: { perOperation, leftToday },
});

describe('findRefundable', () => {
  it.each<[string, Partial<RefundBounds>, bigint]>([
    ['what the wallet has, where nothing limits it', {}, 1000n],
    ['nothing of an empty wallet', { tokens: 0n }, 0n],
    ['the cap of each refund', capped({ each: 300n }), 300n],
    ['what a payer may get a day', capped({ each: 300n, perPayerAndDay: 200n }), 200n],
    ['what an API key may ask for a day', capped({ each: 300n, perKeyAndDay: 100n }), 100n],
    ['what is left of the day', { ...capped({ perDay: 500n }), refundedToday: 450n }, 50n],
    ['nothing where more than a lowered cap was refunded', { ...capped({ perDay: 500n }), refundedToday: 900n }, 0n],
    ['whatever was refunded, where no cap is a day', { refundedToday: 10n ** 77n }, 1000n],
    ["the wallet's limit of an operation", limited('70', '900'), 70n],
    ["what is left of the wallet's day", limited('70', '0'), 0n],
    ["a wallet's limits that are none", limited(null, null), 1000n],
    [
      'amounts above what a number holds',
      { tokens: 10n ** 77n, ...limited(String(10n ** 77n - 1n), null) },
      10n ** 77n - 1n,
    ],
    ['tokens below every cap', { ...capped({ each: 2000n, perDay: 5000n }), ...limited('3000', '4000') }, 1000n],
  ])('is %s', (_, bounds, most) => {
    expect(findRefundable({ ...OPEN, ...bounds })).toBe(most);
  });
});
