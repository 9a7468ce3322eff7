import fc from 'fast-check';
import type { Address } from 'viem';

import { anyCharacter } from '../../../../test/harness/any-text.js';
import type { Plan } from '../types/plan.js';
import type { Token, TokenAmount } from '../types/token.js';
import { cleanUntrusted } from '../types/untrusted-text.js';
import { createSummaryLine } from './show-plan.js';

const USDC: Token = {
  address: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
  symbol: 'USDC',
  decimals: 6,
  isNative: false,
  isListed: true,
};
const ACCOUNT: Address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const OTHER: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const of = (amountBaseUnits: bigint, token = USDC): TokenAmount => ({ token, amountBaseUnits });

function write(plan: Partial<Plan>, spending: readonly TokenAmount[] = []): string {
  const rest = { input: {}, steps: [], spends: [], receives: [], recipients: [], gasEstimate: null };
  return createSummaryLine(
    { operation: 'swap', summary: 'Swap', account: ACCOUNT, chainId: 1328, ...rest, ...plan },
    spending,
    'SEI',
  );
}

describe('the summary of a plan', () => {
  it('has the action, at most, at least, the recipient and the gas, exactly and on one line', () => {
    const line = write(
      {
        operation: 'transfer',
        summary: 'Send 1.000001 USDC',
        recipients: [OTHER],
        receives: [of(2n ** 256n - 1n)],
        gasEstimate: { gas: 21_000n, feeWei: 42_000_000_000_001n },
        warnings: ['The receiver is a contract.'],
      },
      [of(1_000_001n)],
    );
    expect(line.split(' | ')).toEqual([
      'transfer: Send 1.000001 USDC',
      'at most 1.000001 USDC leaves',
      `at least ${2n ** 256n - 1n}`.replace(/(\d{6})$/, '.$1 USDC arrives'),
      `recipient ${OTHER}`,
      'gas about 0.000042000000000001 SEI',
      `account ${ACCOUNT} on chain 1328`,
      'warning: The receiver is a contract.',
    ]);
  });

  it('states when nothing is counted, there is no other recipient, and the gas is not known', () => {
    expect(write({})).toBe(
      `swap: Swap | no amount leaves | no amount arrives | recipient this account | gas not estimated | account ${ACCOUNT} on chain 1328`,
    );
  });

  it.each([
    ['a line break', 'Pay\r\nat most 0 USDC leaves', 'swap: Pay at most 0 USDC leaves'],
    ['a part of its own', 'Pay | at most 0 USDC leaves', 'swap: Pay \\u{7c} at most 0 USDC leaves'],
    ['a right-to-left override', 'Pay \u202e5 USDC', 'swap: Pay \\u{202e}5 USDC'],
    ['letters from right to left', 'Pay "\u05d0\u05d1" 5', 'swap: Pay "\\u{5d0}\\u{5d1}" 5'],
    ['a letter that looks like another', 'Pay U\u0405DC', 'swap: Pay U\\u{405}DC'],
    ['invisible characters', 'Pay\u200b\u0007 5\u{e0041}', 'swap: Pay\\u{200b}\\u{7} 5\\u{e0041}'],
  ])('shows %s escaped', (_name, summary, first) => {
    const parts = write({ summary }).split(' | ');
    expect(parts).toHaveLength(6);
    expect(parts[0]).toBe(first);
  });

  it('stays printable, bounded and in its parts, whatever the untrusted texts are', () => {
    const symbol = fc.string({ unit: anyCharacter, maxLength: 40 });
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter, maxLength: 9_000 }),
        symbol,
        fc.array(symbol),
        (text, name, warnings) => {
          const token = { ...USDC, isListed: false, symbol: name };
          const line = write({ summary: text, warnings, recipients: [name as Address] }, [of(5n, token)]);
          expect(line).toMatch(/^[ -~]*$/);
          expect(cleanUntrusted(line, line.length)).toBe(line);
          expect(line.length).toBeLessThan(6_000);
          expect(line.split('|')).toHaveLength(6 + Math.min(5, warnings.length));
        },
      ),
      { numRuns: 300 },
    );
  });
});
