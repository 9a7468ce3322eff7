import { challengeErrorFor, PAYMENT_FAILURES, PaymentError } from './payment-error.js';

describe('challengeErrorFor', () => {
  it('has the documented text for every failure', () => {
    const format = PAYMENT_FAILURES.filter((code) => challengeErrorFor(code) === 'Invalid payment format or network');
    const used = PAYMENT_FAILURES.filter((code) => challengeErrorFor(code) === 'Payment already used');
    expect(format).toEqual(['malformed_proof', 'wrong_version', 'wrong_scheme', 'wrong_network']);
    expect(used).toEqual(['payment_used']);
    const rest = PAYMENT_FAILURES.filter((code) => !format.includes(code) && !used.includes(code));
    expect(new Set(rest.map(challengeErrorFor))).toEqual(new Set(['Payment verification failed']));
  });
});

describe('PaymentError', () => {
  it('carries code, hint, facts and cause', () => {
    const cause = new Error('why');
    const error = new PaymentError('over_limit', 'Too dear.', { hint: 'Raise the limit.', details: { a: 1 }, cause });
    expect(error).toMatchObject({
      name: 'PaymentError',
      code: 'over_limit',
      hint: 'Raise the limit.',
      details: { a: 1 },
      cause,
    });
    expect(new PaymentError('over_limit', 'Too dear.')).toMatchObject({ hint: undefined, details: {} });
  });
});
