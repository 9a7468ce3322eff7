import fc from 'fast-check';

import { PaymentError } from '../wire/payment-error.js';
import { MAX_UINT256 } from '../wire/token-amount.js';
import { MAX_SIGNATURE_BYTES } from './signed-fields.js';
import { parseSignedPayment } from './signed-payment.js';

const authorization = {
  from: `0x${'aB'.repeat(20)}`,
  to: `0x${'12'.repeat(20)}`,
  value: '1000',
  validAfter: '0',
  validBefore: '1900000000',
  nonce: `0x${'Cd'.repeat(32)}`,
};
const payload = { signature: `0x${'Ef'.repeat(65)}`, authorization };

function problemOf(value: unknown): string {
  try {
    parseSignedPayment(value);
  } catch (error) {
    if (error instanceof PaymentError && error.code === 'malformed_proof') return String(error.details['field']);
    throw error;
  }
  return 'none';
}

describe('parseSignedPayment', () => {
  it('reads a payload, and gives all spellings the same form', () => {
    const read = parseSignedPayment(payload);
    expect(read).toEqual({
      kind: 'authorization',
      authorization: { ...authorization, from: `0x${'ab'.repeat(20)}`, nonce: `0x${'cd'.repeat(32)}` },
      signature: `0x${'ef'.repeat(65)}`,
    });
    const padded = { ...authorization, value: '0001000', validAfter: '000' };
    expect(parseSignedPayment({ ...payload, authorization: padded })).toEqual(read);
    const { value, validAfter, validBefore } = authorization;
    const numbers = { value: Number(value), validAfter: Number(validAfter), validBefore: Number(validBefore) };
    expect(parseSignedPayment({ ...payload, authorization: { ...authorization, ...numbers } })).toEqual(read);
    expect(parseSignedPayment(read)).toEqual(read);
    expect(parseSignedPayment({ ...payload, more: 1, authorization: { ...authorization, more: 1 } })).toEqual(read);
  });

  it.each([
    ['from', '0x12'],
    ['from', undefined],
    ['to', `${authorization.to}00`],
    ['value', -1],
    ['value', 0.5],
    // The next number that JavaScript has could be the one that was written.
    ['value', 2 ** 53],
    ['value', 1e21],
    ['value', [1000]],
    ['value', true],
    ['value', '-1'],
    ['value', '1e3'],
    ['value', '0x10'],
    ['value', ' 1'],
    ['value', ''],
    ['value', (MAX_UINT256 + 1n).toString()],
    ['validAfter', null],
    ['validBefore', '1.5'],
    ['nonce', `0x${'00'.repeat(31)}`],
    ['nonce', '00'.repeat(32)],
  ])('refuses %s of %j', (field, value) => {
    expect(problemOf({ ...payload, authorization: { ...authorization, [field]: value } })).toBe(field);
  });

  it.each([
    [null, 'payload'],
    [[payload], 'payload'],
    [{ ...payload, authorization: null }, 'authorization'],
    [{ ...payload, signature: '0x' }, 'signature'],
    [{ ...payload, signature: '0x123' }, 'signature'],
    [{ ...payload, signature: `0x${'00'.repeat(MAX_SIGNATURE_BYTES + 1)}` }, 'signature'],
    [{ ...payload, kind: 'permit2' }, 'kind'],
  ])('refuses payload %#', (value, field) => {
    expect(problemOf(value)).toBe(field);
  });

  it('ignores inherited fields', () => {
    expect(problemOf({ ...payload, authorization: Object.create(authorization) as unknown })).toBe('from');
    expect(problemOf(Object.create(payload))).toBe('authorization');
    expect(problemOf(JSON.parse(`{"__proto__":${JSON.stringify(payload)}}`))).toBe('authorization');
  });

  it('accepts the largest amount, and no garbage', () => {
    const value = MAX_UINT256.toString();
    expect(problemOf({ ...payload, authorization: { ...authorization, value } })).toBe('none');
    fc.assert(fc.property(fc.anything({ withNullPrototype: true }), (garbage) => problemOf(garbage) !== 'none'));
  });
});
