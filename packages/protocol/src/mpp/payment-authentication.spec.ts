import fc from 'fast-check';

import { anyText } from '../../../../test/harness/any-text.js';
import { PaymentError } from '../wire/payment-error.js';
import {
  AUTHENTICATION_START,
  challengeNonce,
  encodeChargeRequest,
  encodePaymentReceipt,
  findPaymentCredentials,
  parsePaymentCredential,
  renderAuthenticationEnd,
  withoutPaymentCredentials,
} from './payment-authentication.js';

const authorization = {
  from: `0x${'11'.repeat(20)}`,
  to: `0x${'Cd'.repeat(20)}`,
  value: '1000',
  validAfter: '0',
  validBefore: '1800000000',
  nonce: `0x${'22'.repeat(32)}`,
};
const signature = `0x${'33'.repeat(65)}`;
const hash = `0x${'Ef'.repeat(32)}`;
const challenge = {
  id: 'chain-1-a',
  realm: 'api.example',
  method: 'evm',
  intent: 'charge',
  request: 'e30',
  expires: '2026-01-01T00:00:00.000Z',
};
const credential = { challenge, payload: { type: 'authorization', ...authorization, signature }, source: 'did:pkh:x' };

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function codeOf(token: string): string {
  try {
    parsePaymentCredential(token);
  } catch (error) {
    if (error instanceof PaymentError) return error.code;
    throw error;
  }
  return 'accepted';
}

describe('the challenge', () => {
  it('asks for a charge in canonical JSON', () => {
    const request = encodeChargeRequest({
      amount: '1000',
      asset: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
      payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      chainId: 1328,
      decimals: 6,
      description: 'Wetter in München',
    });
    expect(request).toMatch(/^[\w-]+$/);
    expect(Buffer.from(request, 'base64url').toString()).toBe(
      '{"amount":"1000","currency":"0x4fCF1784B31630811181f670Aea7A7bEF803eaED","description":"Wetter in München",' +
        '"methodDetails":{"chainId":1328,"credentialTypes":["authorization","hash"],"decimals":6},' +
        '"recipient":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}',
    );
  });

  it('is one header', () => {
    const end = renderAuthenticationEnd({ realm: 'api.example', request: 'e30' });
    expect(`${AUTHENTICATION_START}chain-1-a${end}2026-01-01T00:00:00.000Z"`).toBe(
      'Payment id="chain-1-a", realm="api.example", method="evm", intent="charge", request="e30", expires="2026-01-01T00:00:00.000Z"',
    );
  });

  it('commits an authorization by its nonce', () => {
    // keccak256 of "chain-1-aapi.example", by another implementation
    expect(challengeNonce(challenge)).toBe('0xc9fba850717431bd24dc50119efab77479c83044f7fab208234cbe34bd2031e5');
  });
});

describe('Authorization', () => {
  it.each<[string, string[], string | null]>([
    ['Payment abc', ['abc'], null],
    ['payment   abc ', ['abc'], null],
    ['Bearer x, Payment abc', ['abc'], 'Bearer x'],
    ['Payment abc, Bearer x', ['abc'], 'Bearer x'],
    ['Payment abc, Bearer x,payment abc', ['abc', 'abc'], 'Bearer x'],
    ['Bearer Payment', [], 'Bearer Payment'],
    ['Payments abc', [], 'Payments abc'],
    ['Payment', [], null],
    ['', [], ''],
  ])('%j holds the payments %j, and otherwise %j', (header, payments, rest) => {
    expect(findPaymentCredentials(header)).toEqual(payments);
    expect(withoutPaymentCredentials(header)).toBe(rest);
  });
});

describe('parsePaymentCredential', () => {
  it('reads a signed payment, without irrelevant fields', () => {
    const { id, realm, request, expires } = challenge;
    expect(parsePaymentCredential(encode(credential))).toEqual({
      challenge: { id, realm, request, expires },
      payment: {
        kind: 'authorization',
        authorization: { ...authorization, to: authorization.to.toLowerCase() },
        signature,
      },
    });
  });

  it.each([
    { hash },
    { txHash: hash, chainId: 1328 },
    { hash, txHash: hash.toUpperCase().replace('X', 'x') },
    { hash, txHash: null },
    { hash: null, txHash: hash },
  ])('reads a transaction sent by the payer: %j', (named) => {
    expect(parsePaymentCredential(encode({ challenge, payload: { type: 'hash', ...named } })).payment).toEqual({
      kind: 'transaction',
      payload: { txHash: hash },
    });
  });

  it.each<[string, unknown]>([
    ['malformed_proof', { payload: credential.payload }],
    ['malformed_proof', { ...credential, payload: undefined }],
    ['malformed_proof', { ...credential, payload: { ...credential.payload, type: 'transaction' } }],
    ['malformed_proof', { ...credential, payload: { type: 'hash', hash: '0x12' } }],
    ['malformed_proof', { ...credential, payload: { type: 'hash', txHash: '0x12' } }],
    ['malformed_proof', { ...credential, payload: { type: 'hash', hash, txHash: `0x${'00'.repeat(32)}` } }],
    ['malformed_proof', { ...credential, payload: { ...credential.payload, nonce: 'x' } }],
    ['malformed_proof', { ...credential, challenge: { ...challenge, id: 1 } }],
    ['malformed_proof', { ...credential, challenge: { ...challenge, expires: undefined } }],
    ['wrong_scheme', { ...credential, challenge: { ...challenge, method: 'tempo' } }],
    ['wrong_scheme', { ...credential, challenge: { ...challenge, intent: 'session' } }],
  ])('fails with %s', (code, value) => {
    expect(codeOf(encode(value))).toBe(code);
  });

  it('returns a credential or one of two codes for any token', () => {
    const mostly = <T>(value: T) =>
      fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: fc.anything() });
    const structured = fc.record({ challenge: mostly(challenge), payload: mostly(credential.payload) });
    const token = fc.oneof(
      anyText,
      structured.map((value) => encode(fc.stringify(value).length > 4000 ? null : value)),
    );
    fc.assert(
      fc.property(token, (text) => {
        expect(['malformed_proof', 'wrong_scheme', 'accepted']).toContain(codeOf(text));
      }),
    );
  });
});

describe('encodePaymentReceipt', () => {
  it('names the transaction and its chain, the challenge and the time', () => {
    const txHash = `0x${'ab'.repeat(32)}` as const;
    const settledAtMs = Date.UTC(2026, 0, 2);
    const receipt = encodePaymentReceipt({ txHash, settledAtMs, challengeId: 'chain-1-a', chainId: 1328 });
    expect(receipt).toMatch(/^[\w-]+$/);
    expect(JSON.parse(Buffer.from(receipt, 'base64url').toString())).toEqual({
      method: 'evm',
      reference: `0x${'ab'.repeat(32)}`,
      status: 'success',
      timestamp: '2026-01-02T00:00:00.000Z',
      challengeId: 'chain-1-a',
      chainId: 1328,
    });
  });
});
