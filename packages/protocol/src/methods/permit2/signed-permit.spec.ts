import { PaymentError } from '../../wire/payment-error.js';
import { parseSignedPayment } from '../signed-payment.js';
import { EXACT_PROXY_ADDRESS, PERMIT2_ADDRESS, UPTO_PROXY_ADDRESS } from './permit.js';

const permit2Authorization = {
  from: `0x${'aB'.repeat(20)}`,
  permitted: { token: `0x${'Cd'.repeat(20)}`, amount: '1000' },
  spender: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  nonce: '98765432109876543210',
  deadline: '1900000000',
  witness: { to: `0x${'12'.repeat(20)}`, validAfter: '0' },
};
const payload = { signature: `0x${'Ef'.repeat(65)}`, permit2Authorization };
const facilitator = `0x${'9A'.repeat(20)}`;
const metered = { ...permit2Authorization, witness: { ...permit2Authorization.witness, facilitator } };

function problemOf(value: unknown): string {
  try {
    parseSignedPayment(value);
  } catch (error) {
    if (error instanceof PaymentError && error.code === 'malformed_proof') return String(error.details['field']);
    throw error;
  }
  return 'none';
}

const withPermit = (changes: object): unknown => ({ ...payload, permit2Authorization: { ...metered, ...changes } });

describe('parseSignedPayment of a permit', () => {
  it('reads scheme exact, and gives all spellings the same form', () => {
    const read = parseSignedPayment(payload);
    expect(read).toEqual({
      kind: 'permit2',
      scheme: 'exact',
      signature: `0x${'ef'.repeat(65)}`,
      permit2Authorization: {
        ...permit2Authorization,
        from: `0x${'ab'.repeat(20)}`,
        permitted: { token: `0x${'cd'.repeat(20)}`, amount: '1000' },
        spender: EXACT_PROXY_ADDRESS,
      },
    });
    const spelled = {
      nonce: `0x${98765432109876543210n.toString(16).padStart(64, '0').toUpperCase()}`,
      deadline: '01900000000',
    };
    expect(parseSignedPayment({ ...payload, permit2Authorization: { ...permit2Authorization, ...spelled } })).toEqual(
      read,
    );
    expect(parseSignedPayment(read)).toEqual(read);
  });

  it('recognises scheme upto by the facilitator in its witness', () => {
    const read = parseSignedPayment({ ...payload, permit2Authorization: metered });
    const witness = { ...permit2Authorization.witness, facilitator: facilitator.toLowerCase() };
    expect(read).toMatchObject({ kind: 'permit2', scheme: 'upto', permit2Authorization: { witness } });
    expect(parseSignedPayment(read)).toEqual(read);
  });

  it.each([
    [{ from: '0x12' }, 'from'],
    [{ permitted: undefined }, 'permitted'],
    [{ permitted: { token: 1, amount: '1' } }, 'token'],
    [{ permitted: { ...permit2Authorization.permitted, amount: '0x10' } }, 'amount'],
    [{ permitted: { ...permit2Authorization.permitted, amount: (2n ** 256n).toString() } }, 'amount'],
    [{ spender: `${facilitator}00` }, 'spender'],
    [{ nonce: 1.5 }, 'nonce'],
    [{ nonce: '0x' }, 'nonce'],
    [{ nonce: `0x${'f'.repeat(65)}` }, 'nonce'],
    [{ nonce: '-1' }, 'nonce'],
    [{ deadline: '1e9' }, 'deadline'],
    [{ witness: [] }, 'witness'],
    [{ witness: { to: facilitator } }, 'validAfter'],
    [{ witness: { ...metered.witness, facilitator: null } }, 'facilitator'],
    [{ witness: Object.create(metered.witness) as unknown }, 'to'],
  ])('refuses %j', (changes, field) => {
    expect(problemOf(withPermit(changes))).toBe(field);
  });

  it('refuses a payload that claims to be something else', () => {
    expect(problemOf({ ...payload, kind: 'authorization' })).toBe('kind');
    expect(problemOf({ ...payload, scheme: 'upto' })).toBe('scheme');
    expect(problemOf({ ...payload, permit2Authorization: null })).toBe('permit2Authorization');
    expect(problemOf({ ...payload, signature: undefined })).toBe('signature');
    expect(problemOf({ ...payload, authorization: {} })).toBe('authorization');
  });

  it('has the addresses that payers sign for', () => {
    expect([PERMIT2_ADDRESS, EXACT_PROXY_ADDRESS, UPTO_PROXY_ADDRESS]).toEqual(
      [
        '0x000000000022D473030F116dDEE9F6B43aC78BA3',
        '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
        '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
      ].map((address) => address.toLowerCase()),
    );
  });
});
