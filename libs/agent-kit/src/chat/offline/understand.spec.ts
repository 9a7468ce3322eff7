import fc from 'fast-check';

import { renderUnderstanding } from '../../../../../test/harness/understand-wordings.js';
import { shareAmount } from './share-amount.js';

const PREFIXES = [
  '',
  'please ',
  'could you please ',
  'hey, can you ',
  "I'd like to ",
  'I want to ',
  "let's ",
  'ok now ',
  'go ahead and ',
  'Would you kindly ',
];
const SUFFIXES = ['', ' please', '.', '!', ' for me', ', thanks', ' now'];
const AMOUNTS: readonly (readonly [string, string])[] = [
  ['1', '1'],
  ['1.5', '1.5'],
  ['.5', '0.5'],
  ['1,000', '1000'],
  ['1k', '1000'],
  ['two', '2'],
  ['a hundred', '100'],
  ['twenty five', '25'],
  ['0.000001', '0.000001'],
  ['2 and a half', '2.5'],
  ['3 million', '3000000'],
];
const TOKENS: readonly (readonly [string, string])[] = [
  ['USDC', 'USDC'],
  ['usdc', 'USDC'],
  ['USD coin', 'USDC'],
  ['WSEI', 'WSEI'],
  ['wrapped sei', 'WSEI'],
  ['bitcoin', 'WBTC'],
  ['wBTC', 'WBTC'],
];
const LENDING: Readonly<Record<string, readonly string[]>> = {
  mintLending: ['supply', 'lend', 'lend out', 'earn interest on'],
  borrowLending: ['borrow', 'take a loan of', 'take out a loan of'],
  repayLending: ['repay', 'pay back'],
  redeemLending: ['redeem'],
};
const any = <Value>(values: readonly Value[]) => fc.constantFrom(...values);

describe('every way of saying the same', () => {
  it('swaps', () => {
    const verbs = any(['swap', 'exchange', 'trade', 'convert', 'change', 'sell', 'turn', 'Swap', 'SWAP']);
    const cases = fc.tuple(
      any(PREFIXES),
      verbs,
      any(AMOUNTS),
      any(TOKENS),
      any(['to', 'for', 'into']),
      any(TOKENS),
      any(SUFFIXES),
    );
    fc.assert(
      fc.property(cases, ([prefix, verb, [amount, exact], [from, fromToken], joint, [to, toToken], suffix]) => {
        fc.pre(fromToken !== toToken);
        const said = `${prefix}${verb} ${amount} ${from} ${joint} ${to}${suffix}`;
        expect(renderUnderstanding(said)).toBe(`swap amount=${exact} fromToken=${fromToken} toToken=${toToken}`);
      }),
      { numRuns: 1500 },
    );
  });

  it.each(Object.entries(LENDING))('%s', (operation, verbs) => {
    const cases = fc.tuple(any(PREFIXES), any(verbs), any(AMOUNTS), any(TOKENS), any(SUFFIXES));
    fc.assert(
      fc.property(cases, ([prefix, verb, [amount, exact], [name, symbol], suffix]) => {
        expect(renderUnderstanding(`${prefix}${verb} ${amount} ${name}${suffix}`)).toBe(
          `${operation} symbol=${symbol} amount=${exact}`,
        );
      }),
      { numRuns: 400 },
    );
  });

  it('stakes', () => {
    const cases = fc.tuple(
      any(PREFIXES),
      any(['stake', 'delegate', 'lock up', 'bond']),
      any(AMOUNTS),
      any(['', ' SEI', ' sei', ' of the native token']),
      any(SUFFIXES),
    );
    fc.assert(
      fc.property(cases, ([prefix, verb, [amount, exact], token, suffix]) => {
        expect(renderUnderstanding(`${prefix}${verb} ${amount}${token}${suffix}`)).toBe(`stake amount=${exact}`);
      }),
      { numRuns: 600 },
    );
  });

  const WRITES = [
    'swap 1 USDC for WSEI',
    'stake 2 SEI',
    'borrow 3 USDC',
    'deposit 5 USDC to perps',
    'unstake everything',
    'long 0.01 BTC',
    'remove liquidity position 3',
  ];
  const DENIALS = [
    "don't ",
    'do not ',
    'please do not ',
    'never ',
    'please never ',
    "I don't want to ",
    "you shouldn't ",
    'I would rather not ',
    "let's not ",
    'no need to ',
  ];
  const MUSINGS = [
    'what happens if I ',
    'should I ',
    'how do I ',
    'what if I ',
    'can I ',
    'how can I ',
    'is it wise to ',
    'why should I ',
    'explain how to ',
  ];

  it('does nothing of what is denied', () => {
    fc.assert(
      fc.property(any(DENIALS), any(WRITES), any(SUFFIXES), (denial, request, suffix) => {
        expect(renderUnderstanding(`${denial}${request}${suffix}`)).toBe('nothing');
      }),
    );
  });

  it('only explains or quotes what is mused about', () => {
    fc.assert(
      fc.property(any(MUSINGS), any(WRITES), (musing, request) => {
        expect(renderUnderstanding(`${musing}${request}?`)).toMatch(/^(?:explain:\w+|get\w+Quote [^;]*)$/);
      }),
    );
  });

  it('answers anything without throwing', () => {
    const words = any([
      'swap',
      '1',
      'USDC',
      'for',
      'and',
      '.',
      ',',
      '"',
      "'",
      'half',
      '0x',
      '%',
      '-',
      'it',
      'again',
      '$',
      '#',
      '½',
      '\u202e',
      'or',
      'a',
    ]);
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'grapheme' }),
          fc.array(words, { maxLength: 30 }).map((parts) => parts.join(' ')),
        ),
        (text) => {
          expect(renderUnderstanding(text)).not.toBe('');
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('reads one misspelt letter where it is plain what is meant', () => {
    expect(renderUnderstanding('borow 3 UDSC')).toBe('borrowLending symbol=USDC amount=3');
    expect(renderUnderstanding('unstaek 3')).toBe('unstake amount=3');
  });
});

describe('shareAmount', () => {
  it('is exact and rounds down', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 40n), fc.bigInt(1n, 100n), (units, percent) => {
        const digits = units.toString().padStart(19, '0');
        const text = `${digits.slice(0, -18)}.${digits.slice(-18)}`;
        const share = shareAmount(text, { numerator: percent, denominator: 100n }, 18);
        const expected = (units * percent) / 100n;
        const [whole = '', fraction = ''] = (share ?? '0').split('.');
        expect(BigInt(whole + fraction.padEnd(18, '0'))).toBe(expected);
      }),
    );
  });
});
