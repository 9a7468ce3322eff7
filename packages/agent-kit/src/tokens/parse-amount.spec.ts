import { formatTokenAmount, MAX_UINT256 } from '@tollgate/protocol';
import fc from 'fast-check';

import type { Token } from '../types/token.js';
import { parseAmount } from './parse-amount.js';

const tokenOf = (decimals: number): Token => ({
  address: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
  symbol: 'USDC',
  decimals,
  isNative: false,
  isListed: true,
});

describe('parseAmount', () => {
  it('is exact for every amount and every number of decimals', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: MAX_UINT256 }), fc.integer({ min: 0, max: 255 }), (baseUnits, decimals) => {
        const { amountBaseUnits } = parseAmount(formatTokenAmount(baseUnits, decimals), tokenOf(decimals));
        expect(amountBaseUnits).toBe(baseUnits);
      }),
    );
  });

  it.each(['0', '0.0000001', '-1', '1e3', '', '9'.repeat(400)])('refuses %s of a token with 6 decimals', (text) => {
    expect(() => parseAmount(text, tokenOf(6))).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
  });

  it('names the token and its decimals', () => {
    expect(() => parseAmount('0.0000001', tokenOf(6))).toThrow(
      'Token amount "0.0000001" has more than 6 decimals. The token is USDC.',
    );
  });
});
