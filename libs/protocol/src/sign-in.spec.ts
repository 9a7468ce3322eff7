import fc from 'fast-check';

import { PaymentError } from './payment-error.js';
import { createReference } from './reference.js';
import { createSignInExtension, parseSignIn, referenceOfNonce, signInNonceOf } from './sign-in.js';

const address = `0x${'aB'.repeat(20)}`;
const signIn = {
  domain: 'api.example',
  address,
  uri: 'https://api.example/api/weather',
  statement: 'Come back.',
  version: '1',
  chainId: 'eip155:1328',
  nonce: 'chain1700000000000abc',
  issuedAt: '2026-01-01T00:00:00.000Z',
  expirationTime: '2026-01-01T00:05:00.000Z',
  resources: ['https://api.example/api/weather'],
  signature: `0x${'11'.repeat(65)}`,
};

const sent = { ...signIn, type: 'eip191' };

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

function codeOf(header: string): string {
  try {
    parseSignIn(header);
  } catch (error) {
    if (error instanceof PaymentError) return error.code;
    throw error;
  }
  return 'read';
}

describe('parseSignIn', () => {
  it('reads the parts of the message and its signature', () => {
    expect(parseSignIn(encode({ ...sent, signatureScheme: 'eip191', notBefore: null }))).toEqual(signIn);
  });

  it.each<[string, unknown]>([
    ['no object', []],
    ['another version', { ...sent, version: '2' }],
    ['a type that is not of this chain', { ...sent, type: 'ed25519' }],
    ['no address', { ...sent, address: 'somebody' }],
    ['no signature', { ...sent, signature: '' }],
    ['no domain', { ...sent, domain: undefined }],
    ['an empty nonce', { ...sent, nonce: '' }],
    ['a line break that would start another field', { ...sent, statement: 'x\n\nURI: https://evil.example' }],
    ['a line break in a resource', { ...sent, resources: ['x\ny'] }],
    ['resources that are no list', { ...sent, resources: 'x' }],
    ['too many resources', { ...sent, resources: Array.from({ length: 17 }, () => 'x') }],
  ])('refuses %s', (_case, value) => {
    expect(codeOf(encode(value))).toBe('malformed_proof');
  });

  it('reads or refuses whatever it is given', () => {
    const fields = fc.dictionary(fc.constantFrom(...Object.keys(signIn)), fc.anything());
    const header = fc.oneof(
      fc.string({ unit: 'binary' }),
      fields.map((some) => encode(fc.stringify(some).length > 4000 ? null : { ...sent, ...some })),
    );
    fc.assert(
      fc.property(header, (text) => {
        expect(['read', 'malformed_proof']).toContain(codeOf(text));
      }),
    );
  });
});

describe('the nonce of a sign-in', () => {
  it('is a reference without its hyphens', () => {
    const reference = createReference({
      terms: { method: 'GET', resource: '/', asset: '0xa', payTo: '0xb', network: 'n' },
      priceBaseUnits: 1000n,
      nowMs: 1_700_000_000_000,
      nonce: new Uint8Array(16).fill(7),
      secret: new Uint8Array(32),
    });
    const nonce = signInNonceOf(reference);
    expect(nonce).toMatch(/^[a-zA-Z0-9]{8,}$/);
    expect(referenceOfNonce(nonce)).toBe(reference);
  });
});

describe('createSignInExtension', () => {
  it('names the chain and the kind of signature', () => {
    const info = {
      domain: 'api.example',
      uri: 'https://api.example/',
      version: '1' as const,
      nonce: 'n',
      issuedAt: 'i',
      expirationTime: 'e',
    };
    expect(createSignInExtension(info, 'eip155:1328')).toMatchObject({
      info,
      supportedChains: [{ chainId: 'eip155:1328', type: 'eip191' }],
      schema: { type: 'object' },
    });
  });
});
