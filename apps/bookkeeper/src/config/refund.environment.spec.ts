import { readEnvironment } from '@tollgate/config';

import { RefundEnvironment } from './refund.environment.js';

describe('the limits of refunds', () => {
  it.each([
    // In the unit of prices: 100 at a rate of 0.00026 are 0.026 of the token.
    ['a token of the unit of prices', '100', { decimals: 6, rate: '1' }, 100_000_000n],
    ['a token that is worth more', '100', { decimals: 18, rate: '0.00026' }, 26_000_000_000_000_000n],
    ['a token that is worth less', '0.5', { decimals: 2, rate: '1500' }, 75_000n],
    ['a token with fewer digits than the limit has', '0.129', { decimals: 2, rate: '1' }, 12n],
    ['any token, where there is none', 'none', { decimals: 18, rate: '0.00026' }, null],
  ])('are, in base units of %s, never more than was set', (_what, text, option, units) => {
    const environment = readEnvironment(RefundEnvironment, { REFUND_MOST: text, REFUND_APPROVAL_ABOVE: text });
    expect([environment.caps(option).each, environment.approvalAbove(option)]).toEqual([units, units]);
  });
});
