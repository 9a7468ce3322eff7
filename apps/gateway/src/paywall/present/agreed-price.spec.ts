import { createPayment } from '../../../test/present-payments.js';
import { agreedPriceOf } from './agreed-price.js';

const issuedAtMs = Date.UTC(2026, 0, 1);
const reference = { text: 'chain-1-a', issuedAtMs, priceBaseUnits: 900n };
const current = { priceBaseUnits: 1000n, maxTimeoutSeconds: 300 };
const endingAfter = (seconds: number) => createPayment({ validBefore: String(issuedAtMs / 1000 + seconds) });

describe('the price of a payment', () => {
  it('is the current one if no challenge is named', () => {
    expect(agreedPriceOf(endingAfter(300), null, current)).toBe(1000n);
  });

  it('is that of its challenge if it was signed in time', () => {
    expect(agreedPriceOf(endingAfter(300), reference, current)).toBe(900n);
    expect(agreedPriceOf(endingAfter(600), reference, current)).toBe(900n);
  });

  it('is the current one for a signature that expires too late', () => {
    expect(agreedPriceOf(endingAfter(601), reference, current)).toBe(1000n);
    expect(agreedPriceOf(createPayment({ validBefore: (2n ** 256n - 1n).toString() }), reference, current)).toBe(1000n);
  });

  it('of a transaction is that of its challenge, whose age the verifier checks', () => {
    expect(agreedPriceOf({ kind: 'transaction', txHash: '0x12' }, reference, current)).toBe(900n);
  });
});
