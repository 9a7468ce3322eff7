import fc from 'fast-check';

import { anyText } from '../../../../test/harness/any-text.js';
import { PaymentError } from '../wire/payment-error.js';
import { isPaymentIdentifier } from './payment-identifier.js';
import { assertAccepted, parsePaymentSignature } from './payment-signature.js';
import type { RequirementTerms } from './requirements.js';

const asset = `0x${'aB'.repeat(20)}`;
const payTo = `0x${'Cd'.repeat(20)}`;
const authorization = {
  from: `0x${'11'.repeat(20)}`,
  to: payTo,
  value: '1000',
  validAfter: '0',
  validBefore: '1800000000',
  nonce: `0x${'22'.repeat(32)}`,
};
const signature = `0x${'33'.repeat(65)}`;
const txHash = `0x${'Ef'.repeat(32)}`;
const accepted = {
  scheme: 'exact',
  network: 'eip155:1328',
  amount: '1000',
  asset,
  payTo,
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2', reference: 'chain-1-a' },
};
const payment = { x402Version: 2, accepted, payload: { authorization, signature }, resource: { url: 'x' } };

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

function codeOf(run: () => void): string {
  try {
    run();
  } catch (error) {
    if (error instanceof PaymentError) return error.code;
    throw error;
  }
  return 'accepted';
}
const parsed = (value: unknown) => codeOf(() => parsePaymentSignature(encode(value)));

describe('parsePaymentSignature', () => {
  it('reads a signed payment and its accepted requirement', () => {
    const id = 'pay_0123456789abcdef';
    const extensions = { 'payment-identifier': { info: { required: false, id }, schema: {} } };
    expect(parsePaymentSignature(encode({ ...payment, extensions }))).toEqual({
      accepted: {
        scheme: 'exact',
        network: 'eip155:1328',
        amountBaseUnits: '1000',
        asset: asset.toLowerCase(),
        payTo: payTo.toLowerCase(),
        maxTimeoutSeconds: 300,
        assetName: 'USDC',
        assetVersion: '2',
        resource: null,
      },
      reference: 'chain-1-a',
      payment: { kind: 'authorization', authorization: { ...authorization, to: payTo.toLowerCase() }, signature },
      paymentIdentifier: id,
    });
  });

  it('reads a transaction sent by the payer', () => {
    expect(parsePaymentSignature(encode({ ...payment, payload: { txHash } })).payment).toEqual({
      kind: 'transaction',
      payload: { txHash },
    });
  });

  it.each<[string, unknown]>([
    ['wrong_version', { ...payment, x402Version: 1 }],
    ['malformed_proof', { ...payment, accepted: undefined }],
    ['malformed_proof', { ...payment, accepted: { ...accepted, payTo: 'somebody' } }],
    ['malformed_proof', { ...payment, accepted: { ...accepted, amount: 0.5 } }],
    ['malformed_proof', { ...payment, payload: undefined }],
    ['malformed_proof', { ...payment, payload: {} }],
    ['malformed_proof', { ...payment, payload: { authorization, signature, txHash } }],
    ['malformed_proof', { ...payment, payload: { authorization } }],
    ['malformed_proof', [payment]],
    ['malformed_proof', { ...payment, padding: 'x'.repeat(12_288) }],
  ])('fails with %s', (code, value) => {
    expect(parsed(value)).toBe(code);
  });

  it('ignores __proto__', () => {
    const text = `{"x402Version":2,"accepted":${JSON.stringify(accepted)},"payload":{"__proto__":{"txHash":"${txHash}"}}}`;
    expect(codeOf(() => parsePaymentSignature(Buffer.from(text).toString('base64')))).toBe('malformed_proof');
  });

  it('returns a payment or one of two codes for any header', () => {
    const mostly = <T>(value: T) =>
      fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: fc.anything() });
    const structured = fc.record({
      x402Version: mostly(2),
      accepted: mostly(accepted),
      payload: mostly({ authorization, signature }),
      extensions: fc.oneof(fc.record({ 'payment-identifier': fc.record({ info: fc.anything() }) }), fc.anything()),
    });
    const header = fc.oneof(
      anyText,
      fc.json().map((text) => Buffer.from(text).toString('base64')),
      structured.map((value) => encode(fc.stringify(value).length > 4000 ? null : value)),
    );
    fc.assert(
      fc.property(header, (text) => {
        expect(['malformed_proof', 'wrong_version', 'accepted']).toContain(codeOf(() => parsePaymentSignature(text)));
      }),
    );
  });
});

describe('assertAccepted', () => {
  const own = parsePaymentSignature(encode(payment)).accepted;
  const offered = { ...own, asset: asset as typeof own.asset, payTo: payTo as typeof own.payTo };

  it.each<[string, Partial<RequirementTerms>]>([
    ['accepted', {}],
    ['wrong_scheme', { scheme: 'upto' }],
    ['wrong_network', { network: 'eip155:1' }],
    ['asset_mismatch', { asset: `0x${'00'.repeat(20)}` }],
    ['recipient_mismatch', { payTo: `0x${'00'.repeat(20)}` }],
    ['amount_mismatch', { amountBaseUnits: '999' }],
  ])('fails with %s', (code, change) => {
    expect(codeOf(() => assertAccepted({ ...own, ...change }, offered))).toBe(code);
  });
});

describe('isPaymentIdentifier', () => {
  it.each<[boolean, unknown]>([
    [true, 'pay_0123456789ab'],
    [true, 'A'.repeat(128)],
    [false, 'too-short'],
    [false, 'A'.repeat(129)],
    [false, 'pay_0123456789ab!'],
    [false, 'pay_0123456789ab\n'],
    [false, 1],
    [false, null],
  ])('is %j for %j', (expected, value) => {
    expect(isPaymentIdentifier(value)).toBe(expected);
  });
});
