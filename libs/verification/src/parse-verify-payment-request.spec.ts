import { MalformedMessageError, parseVerifyPaymentRequest } from './messages.js';

const ADDRESS = `0x${'Ab'.repeat(20)}`;
const message = {
  requestId: 'r-1',
  owner: 'owner_-1',
  deadlineMs: 1,
  network: 'chain-testnet',
  chainId: 1328,
  asset: ADDRESS,
  payTo: ADDRESS,
  priceBaseUnits: '1000',
  txHash: `0x${'Cd'.repeat(32)}`,
  fingerprint: 'f',
  retryKey: null,
  leaseMs: 30_000,
  clientAddress: '::1',
};

describe('parseVerifyPaymentRequest', () => {
  it('parses a message, addresses and hash in lower case', () => {
    const reference = { text: 'chain-1-a', issuedAtMs: 1, priceBaseUnits: '5' };
    expect(parseVerifyPaymentRequest({ ...message, reference, signature: '0xAB', more: 1 })).toEqual({
      ...message,
      asset: ADDRESS.toLowerCase(),
      payTo: ADDRESS.toLowerCase(),
      txHash: message.txHash.toLowerCase(),
      reference,
      signature: '0xab',
    });
    expect(parseVerifyPaymentRequest({ ...message, retryKey: 'key' })).toMatchObject({ retryKey: 'key' });
    expect(parseVerifyPaymentRequest({ ...message, keyReserves: false })).toMatchObject({ keyReserves: false });
  });

  it.each([
    null,
    7,
    'text',
    [],
    {},
    ...Object.keys(message).map((name) => ({ ...message, [name]: undefined })),
    ...Object.keys(message).map((name) => ({ ...message, [name]: { toString: () => 'x' } })),
    { ...message, txHash: '0x12' },
    { ...message, priceBaseUnits: '-1' },
    { ...message, priceBaseUnits: '1e3' },
    { ...message, owner: 'a b' },
    { ...message, deadlineMs: Number.NaN },
    { ...message, reference: 'chain-1-a' },
    { ...message, reference: { text: 'chain-1-a', issuedAtMs: '1', priceBaseUnits: '5' } },
    { ...message, signature: 'none' },
    { ...message, signature: `0x${'00'.repeat(20_000)}` },
    { ...message, clientAddress: 'x'.repeat(2000) },
  ])('refuses %j', (malformed: unknown) => {
    expect(() => parseVerifyPaymentRequest(malformed)).toThrow(MalformedMessageError);
  });
});
