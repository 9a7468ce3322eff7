import { MalformedMessageError, parseVerifySignedPaymentRequest } from './messages.js';

const ADDRESS = `0x${'Ab'.repeat(20)}`;
const terms = {
  chainId: 1328,
  asset: ADDRESS,
  assetName: 'USD Coin',
  assetVersion: '2',
  payTo: ADDRESS,
  priceBaseUnits: '1000',
};
const authorization = {
  from: ADDRESS,
  to: ADDRESS,
  value: '1000',
  validAfter: '0',
  validBefore: '2000000000',
  nonce: `0x${'Cd'.repeat(32)}`,
};
const payment = { kind: 'authorization', authorization, signature: '0xAB' };
const claim = { owner: 'owner_-1', fingerprint: 'f', retryKey: null, leaseMs: 30_000 };
const message = { requestId: 'r-1', deadlineMs: 1, terms, payment, clientAddress: '::1', claim };

const without = <T extends object>(value: T): object[] =>
  Object.keys(value).map((name) => ({ ...value, [name]: undefined }));

describe('parseVerifySignedPaymentRequest', () => {
  it('parses a message, hexadecimal text in lower case', () => {
    const lower = ADDRESS.toLowerCase();
    expect(parseVerifySignedPaymentRequest({ ...message, more: 1 })).toEqual({
      ...message,
      terms: { ...terms, asset: lower, payTo: lower },
      payment: {
        kind: 'authorization',
        authorization: { ...authorization, from: lower, to: lower, nonce: authorization.nonce.toLowerCase() },
        signature: '0xab',
      },
    });
    expect(parseVerifySignedPaymentRequest({ ...message, claim: null })).toMatchObject({ claim: null });
    expect(parseVerifySignedPaymentRequest({ ...message, validForMs: 45_000 })).toMatchObject({ validForMs: 45_000 });
    const keyed = { ...message, claim: { ...claim, retryKey: 'key' } };
    expect(parseVerifySignedPaymentRequest(keyed)).toMatchObject({ claim: { retryKey: 'key' } });
  });

  it.each([
    null,
    7,
    [],
    {},
    ...without(message),
    ...without(terms).map((faulty) => ({ ...message, terms: faulty })),
    ...without(payment)
      .slice(1)
      .map((faulty) => ({ ...message, payment: faulty })),
    ...without(authorization).map((faulty) => ({ ...message, payment: { ...payment, authorization: faulty } })),
    ...without(claim).map((faulty) => ({ ...message, claim: faulty })),
    { ...message, payment: { ...payment, kind: 'cash' } },
    { ...message, payment: { ...payment, signature: `0x${'00'.repeat(5000)}` } },
    { ...message, terms: { ...terms, priceBaseUnits: '-1' } },
    { ...message, claim: { ...claim, owner: 'a b' } },
    { ...message, validForMs: '45000' },
    { ...message, validForMs: -1 },
  ])('refuses message %#', (malformed: unknown) => {
    expect(() => parseVerifySignedPaymentRequest(malformed)).toThrow(MalformedMessageError);
  });
});
