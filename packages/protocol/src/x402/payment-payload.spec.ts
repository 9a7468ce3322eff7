import { PAYMENT_FAILURES, PaymentError } from '../wire/payment-error.js';
import { facilitatorReasonFor } from './facilitator-reasons.js';
import { parsePaymentPayload } from './payment-payload.js';
import { parseRequirementTerms } from './requirements.js';

const PAYER = '0xAbCdabcdabcdabcdabcdabcdabcdabcdabcdabCD';
const SHOP = '0x1111111111111111111111111111111111111111';
const ASSET = '0x4fCF1784B31630811181f670Aea7A7bEF803eaED';
const authorization = {
  from: PAYER,
  to: SHOP,
  value: '1000',
  validAfter: '0',
  validBefore: '1900000000',
  nonce: `0x${'Ab'.repeat(32)}`,
};
const payload = { authorization, signature: `0x${'12'.repeat(65)}` };
const accepted = {
  scheme: 'exact',
  network: 'eip155:1328',
  amount: '1000',
  asset: ASSET,
  payTo: SHOP,
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2', reference: 'r' },
};
const v1 = { x402Version: 1, scheme: 'exact', network: 'sei-testnet', payload };
const v2 = { x402Version: 2, payload, accepted, resource: { url: 'https://shop.example/' }, extensions: { a: 1 } };

const failureOf = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    if (error instanceof PaymentError) return error.code;
    throw error;
  }
};

describe('parsePaymentPayload', () => {
  it('reads both versions into one form', () => {
    const one = parsePaymentPayload(v1);
    const two = parsePaymentPayload(v2);
    expect(one).toMatchObject({ version: 1, scheme: 'exact', network: 'sei-testnet' });
    expect(two).toMatchObject({ version: 2, scheme: 'exact', network: 'eip155:1328' });
    expect(two).toMatchObject({ acceptedExtra: { reference: 'r' }, extensions: { a: 1 } });
    expect(one.payment).toEqual(two.payment);
    expect(one.payment).toMatchObject({ authorization: { from: PAYER.toLowerCase() } });
  });

  it.each([
    ['not an object', null],
    ['a list', [v1]],
    ['no network', { ...v1, network: undefined }],
    ['no authorization', { ...v1, payload: { signature: '0x12' } }],
    ['no accepted requirement', { ...v2, accepted: undefined }],
    ['an accepted requirement without an amount', { ...v2, accepted: { ...accepted, amount: null } }],
    ['only inherited fields', Object.create(v1) as unknown],
  ])('refuses %s', (_name, value) => {
    expect(['malformed_proof', 'wrong_version']).toContain(failureOf(() => parsePaymentPayload(value)));
  });

  it.each([undefined, 0, 3, '1', null])('refuses the version %s', (x402Version) => {
    expect(failureOf(() => parsePaymentPayload({ ...v1, x402Version }))).toBe('wrong_version');
  });
});

describe('parseRequirementTerms', () => {
  const requirement = { ...accepted, maxAmountRequired: '1000', resource: 'https://shop.example/', network: 'sei' };

  it('reads both versions into one form, in lower case', () => {
    const terms = { asset: ASSET.toLowerCase(), payTo: SHOP, amountBaseUnits: '1000', assetName: 'USDC' };
    expect(parseRequirementTerms(accepted, 2)).toMatchObject({ ...terms, resource: null });
    expect(parseRequirementTerms(requirement, 1)).toMatchObject({ ...terms, resource: 'https://shop.example/' });
    expect(parseRequirementTerms({ ...accepted, amount: 1000 }, 2)).toMatchObject(terms);
    expect(parseRequirementTerms({ ...requirement, maxAmountRequired: 1000 }, 1)).toMatchObject(terms);
  });

  it.each([
    ['scheme', 7],
    ['network', ''],
    ['asset', '0x12'],
    ['payTo', null],
    ['amount', -1],
    ['amount', 2 ** 53],
    ['amount', '-1'],
    ['amount', '1e3'],
    ['amount', (2n ** 256n).toString()],
    ['maxTimeoutSeconds', 1.5],
  ])('refuses %s %s, and names the field', (field, value) => {
    expect(() => parseRequirementTerms({ ...accepted, [field]: value }, 2)).toThrow(field);
  });

  it('returns no domain if none is given', () => {
    expect(parseRequirementTerms({ ...accepted, extra: null }, 2)).toMatchObject({
      assetName: null,
      assetVersion: null,
    });
  });
});

describe('the reasons of the published protocol', () => {
  it('exist for every failure', () => {
    for (const failure of PAYMENT_FAILURES) {
      for (const version of [1, 2] as const) expect(facilitatorReasonFor(failure, version)).toMatch(/^[a-z0-9_]+$/);
    }
  });
});
