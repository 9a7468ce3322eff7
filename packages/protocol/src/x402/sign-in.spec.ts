import { createSiweMessage } from 'viem/siwe';

import { encodeJsonHeader } from '../wire/json-header.js';
import { PaymentError } from '../wire/payment-error.js';
import { createSignInMessage, createSignInOffer, MAX_SIGN_IN_HEADER_BYTES, parseSignIn } from './sign-in.js';

const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const terms = {
  domain: 'api.example:8443',
  uri: 'https://api.example:8443/v1/quotes/SEI',
  network: 'eip155:1328',
  nonce: 'ab12'.repeat(16),
  issuedAt: '2026-01-01T00:00:00.000Z',
  expirationTime: '2026-01-01T00:05:00.000Z',
};
const signature = `0x${'12'.repeat(65)}`;
const { expirationTime, network: chainId, ...presented } = terms;
const header = { ...presented, chainId, address: ADDRESS, signature };

describe('createSignInMessage', () => {
  it('is the EIP-4361 message that wallets and libraries make', () => {
    const { domain, uri, nonce } = terms;
    const expected = createSiweMessage({
      domain,
      uri,
      nonce,
      address: ADDRESS,
      version: '1',
      chainId: 1328,
      resources: [uri],
      issuedAt: new Date(terms.issuedAt),
      expirationTime: new Date(expirationTime),
    });
    expect(createSignInMessage(terms, ADDRESS)).toBe(expected);
  });
});

describe('createSignInOffer', () => {
  it('is the input from which published clients make that message', () => {
    const { network, ...asked } = terms;
    expect(createSignInOffer(asked, [network])).toEqual({
      info: { ...presented, expirationTime, version: '1', resources: [terms.uri] },
      supportedChains: [{ chainId: 'eip155:1328', type: 'eip191' }],
      schema: expect.objectContaining({ type: 'object' }) as unknown,
    });
  });
});

describe('parseSignIn', () => {
  it('reads the fields of the sign-in, and drops the rest', () => {
    const more = { ...header, statement: 'x', resources: ['a'], type: 'eip191', version: '1', __proto__: { a: 1 } };
    expect(parseSignIn(encodeJsonHeader(more))).toEqual({
      ...presented,
      network: chainId,
      address: ADDRESS,
      signature,
    });
  });

  it.each<[string, string]>([
    ['no base64', '%%%'],
    ['no JSON', Buffer.from('{').toString('base64')],
    ['a list', Buffer.from('[]').toString('base64')],
    ['too long', encodeJsonHeader({ ...header, uri: 'x'.repeat(MAX_SIGN_IN_HEADER_BYTES) })],
    ['no domain', encodeJsonHeader({ ...header, domain: undefined })],
    ['a nonce that is a number', encodeJsonHeader({ ...header, nonce: 7 })],
    ['a malformed address', encodeJsonHeader({ ...header, address: '0x12' })],
    ['a malformed signature', encodeJsonHeader({ ...header, signature: 'mine' })],
    ['two headers in one', `${encodeJsonHeader(header)}, ${encodeJsonHeader(header)}`],
  ])('refuses %s', (_, value) => {
    expect(() => parseSignIn(value)).toThrow(PaymentError);
  });
});
