import type { TokenTransferred } from '../harness/payments/read-transfers.js';
import { findWrongCharges } from './judge-load.js';
import type { Purchase } from './load.js';

const HASH = `0x${'aa'.repeat(32)}` as const;
const NONCE = `0x${'bb'.repeat(32)}` as const;

const purchase = (changes: Partial<Purchase> = {}): Purchase => ({
  kind: 'signed',
  id: NONCE,
  path: '/',
  headers: {},
  body: 'answer 1',
  refusal: null,
  ...changes,
});
const transfer = (changes: Partial<TokenTransferred> = {}): TokenTransferred => ({
  from: '0x1',
  amountBaseUnits: '1000',
  txHash: HASH,
  nonce: NONCE,
  ...changes,
});

describe('findWrongCharges', () => {
  it('accepts purchases that were served and charged once', () => {
    const purchases = [purchase(), purchase({ kind: 'by hash', id: HASH })];
    expect(findWrongCharges({ purchases }, [transfer(), transfer({ nonce: null })])).toEqual([]);
  });

  it.each<[string, Purchase[], TokenTransferred[], string]>([
    [
      'was charged and not served',
      [purchase({ body: null })],
      [transfer()],
      'was not served (no answer), and charged 1 times',
    ],
    ['was charged twice', [purchase()], [transfer(), transfer()], 'was served, and charged 2 times'],
    ['was served for nothing', [purchase()], [], 'was served, and charged 0 times'],
    ['belongs to no purchase', [], [transfer()], 'was charged 1 times, and belongs to no purchase'],
  ])('names a payment that %s', (_, purchases, transfers, fault) => {
    expect(findWrongCharges({ purchases }, transfers)).toEqual([expect.stringContaining(fault)]);
  });
});
