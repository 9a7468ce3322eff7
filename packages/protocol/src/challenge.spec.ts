import fc from 'fast-check';

import { createChallenge, parseChallenge, parsePaymentRequirement, type PaymentRequirement } from './challenge.js';
import { PaymentError } from './wire/payment-error.js';

const requirement: PaymentRequirement = {
  scheme: 'exact',
  network: 'chain-testnet',
  maxAmountRequired: '1000',
  resource: '/api/weather',
  description: 'Current weather',
  mimeType: 'application/json',
  payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  maxTimeoutSeconds: 300,
  asset: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
  extra: { name: 'USDC', version: '2', reference: 'chain-1763725000000-abc' },
};

describe('createChallenge', () => {
  it('has the documented fields, and error only if there is one', () => {
    expect(createChallenge(requirement)).toStrictEqual({ x402Version: 1, accepts: [requirement] });
    expect(createChallenge(requirement, 'Payment verification failed')).toStrictEqual({
      x402Version: 1,
      accepts: [requirement],
      error: 'Payment verification failed',
    });
  });
});

describe('parsePaymentRequirement', () => {
  it('reads the documented requirement and drops unknown fields', () => {
    expect(
      parsePaymentRequirement({ ...requirement, outputSchema: {}, extra: { ...requirement.extra, more: 1 } }),
    ).toEqual(requirement);
  });

  it.each<[string, object]>([
    ['scheme', { scheme: 'upto' }],
    ['network', { network: '' }],
    ['maxAmountRequired', { maxAmountRequired: 1000 }],
    ['maxAmountRequired', { maxAmountRequired: '-1' }],
    ['maxAmountRequired', { maxAmountRequired: '0x10' }],
    ['maxAmountRequired', { maxAmountRequired: '9'.repeat(78) }],
    ['maxAmountRequired', { maxAmountRequired: '9'.repeat(100_000) }],
    ['payTo', { payTo: '0x12' }],
    ['payTo', { payTo: [requirement.payTo] }],
    ['asset', { asset: null }],
    ['maxTimeoutSeconds', { maxTimeoutSeconds: 0 }],
    ['maxTimeoutSeconds', { maxTimeoutSeconds: 1.5 }],
    ['description', { description: 'x'.repeat(5000) }],
    ['extra', { extra: null }],
    ['extra.reference', { extra: { name: 'USDC', version: '2' } }],
    ['extra.reference', { extra: { name: 'USDC', version: '2', reference: '' } }],
  ])('refuses a wrong %s', (field, change) => {
    expect(() => parsePaymentRequirement({ ...requirement, ...change })).toThrow(
      expect.objectContaining({ code: 'malformed_challenge', details: { field } }),
    );
  });
});

describe('parseChallenge', () => {
  it('reads what createChallenge wrote', () => {
    const challenge = createChallenge(requirement, 'Payment already used');
    expect(parseChallenge(JSON.parse(JSON.stringify(challenge)))).toEqual(challenge);
  });

  it('omits requirements it cannot pay and keeps the rest', () => {
    const offered = { x402Version: 1, accepts: [{ scheme: 'upto' }, null, requirement] };
    expect(parseChallenge(offered).accepts).toEqual([requirement]);
  });

  it.each([
    [null],
    [[]],
    ['402'],
    [{}],
    [{ x402Version: 2, accepts: [requirement] }],
    [{ x402Version: 1 }],
    [{ x402Version: 1, accepts: [] }],
    [{ x402Version: 1, accepts: {} }],
    [{ x402Version: 1, accepts: [{ scheme: 'upto' }] }],
  ])('refuses %j', (value) => {
    expect(() => parseChallenge(value)).toThrow(expect.objectContaining({ code: 'malformed_challenge' }));
  });

  it('ignores __proto__', () => {
    const text = `{"__proto__":${JSON.stringify(createChallenge(requirement))}}`;
    expect(() => parseChallenge(JSON.parse(text))).toThrow(PaymentError);
    const { payTo, ...rest } = requirement;
    const inherited = JSON.stringify(rest).replace(/}$/, `,"__proto__":{"payTo":"${payTo}"}}`);
    expect(() => parsePaymentRequirement(JSON.parse(inherited))).toThrow('payTo');
  });

  it('survives a list of a hundred thousand and JSON 10,000 deep', () => {
    expect(() => parseChallenge({ x402Version: 1, accepts: new Array(100_000).fill({}) })).toThrow(PaymentError);
    const deep: unknown = JSON.parse(`${'{"accepts":['.repeat(10_000)}${']}'.repeat(10_000)}`);
    expect(() => parseChallenge(deep)).toThrow(PaymentError);
    expect(() => parseChallenge({ x402Version: 1, accepts: [deep] })).toThrow(PaymentError);
  });

  it('returns a challenge or malformed_challenge for any input', () => {
    const mutated = fc
      .tuple(fc.constantFrom(...Object.keys(requirement)), fc.anything())
      .map(([field, value]) => ({ x402Version: 1, accepts: [{ ...requirement, [field]: value }] }));
    fc.assert(
      fc.property(fc.oneof(fc.anything(), mutated), (value) => {
        try {
          expect(parseChallenge(value).accepts.length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toMatchObject({ code: 'malformed_challenge' });
        }
      }),
    );
  });
});
