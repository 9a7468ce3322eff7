import fc from 'fast-check';

import { anyText } from '../../../../test/harness/any-text.js';
import { PaymentError } from '../wire/payment-error.js';
import { parsePaymentCredential } from './payment-authentication.js';
import {
  encodePaymentCredential,
  parsePaymentChallenges,
  readCharge,
  renderPaymentChallenge,
  type ReceivedChallenge,
} from './received-challenges.js';

const currency = '0x4fCF1784B31630811181f670Aea7A7bEF803eaED';
const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const methodDetails = { chainId: 1328, credentialTypes: ['authorization'], decimals: 6 };
const terms = { amount: '1000', currency, recipient, methodDetails };
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const challenge: ReceivedChallenge = { id: 'a', realm: 'r', method: 'evm', intent: 'charge', request: encode(terms) };

describe('parsePaymentChallenges', () => {
  it('reads all parameters of a challenge as the published server writes it', () => {
    // `Challenge.serialize` of mppx 0.11.0
    const header =
      'Payment id="a\\"b\\\\c", realm="api.example", method="evm", intent="charge", request="e30", ' +
      'description="Käse für 1 \\u20ac \\ud83e\\uddc0", expires="2026-01-01T00:00:00.000Z", header="Payment-Authorization", opaque="eyJrIjoidiJ9"';
    const read = {
      id: 'a"b\\c',
      realm: 'api.example',
      method: 'evm',
      intent: 'charge',
      request: 'e30',
      description: 'Käse für 1 € 🧀',
      expires: '2026-01-01T00:00:00.000Z',
      header: 'Payment-Authorization',
      opaque: 'eyJrIjoidiJ9',
    };
    expect(parsePaymentChallenges(header)).toEqual([read]);
    expect(parsePaymentChallenges(renderPaymentChallenge(read))).toEqual([read]);
  });

  const plain = 'id=1, realm=r, method=evm, intent=charge, request=e30';
  it.each<[string, string, string[]]>([
    ['unquoted values, in any case', `PAYMENT ${plain.toUpperCase().replace('E30', 'e30')}`, ['1']],
    ['several in one line', `Payment ${plain}, Payment ${plain.replace('1', '2')}`, ['1', '2']],
    ['those of other schemes', `Basic realm="x", Payment ${plain}, Negotiate YWJj==, Bearer`, ['1']],
    ['another scheme behind it, with parameters of the same names', `Payment ${plain}, Bearer realm="b", id=2`, ['1']],
    ['parameters without a comma between them', `Payment ${plain.replace(', realm', ' realm')}`, []],
    ['text behind it', `Payment ${plain}, Payment ${plain} (comment)`, ['1']],
    ['a token of another scheme', `Negotiate YWJj==,Payment ${plain}`, ['1']],
    ['the scheme inside a value', `Bearer realm="Payment ${plain}"`, []],
    ['spaces around the equals sign', `Payment ${plain.replaceAll('=', ' = ')}`, ['1']],
    ['a parameter that is repeated', `Payment ${plain}, ID=2`, []],
    ['a parameter that is missing', `Payment ${plain.replace('realm=r, ', '')}`, []],
    ['an empty value', `Payment ${plain.replace('id=1', 'id=""')}`, []],
    ['a value without an end', `Payment ${plain}, Payment ${plain}, x="`, ['1']],
    ['33 parameters', `Payment ${plain}${Array.from({ length: 28 }, (_, index) => `, p${index}=1`).join('')}`, []],
    ['33 challenges', Array.from({ length: 33 }, () => `Payment ${plain}`).join(', '), Array<string>(32).fill('1')],
    ['more than 64 KiB', `Payment ${plain}, x="${'a'.repeat(65_536)}"`, []],
  ])('reads a header with %s', (_name, header, ids) => {
    expect(parsePaymentChallenges(header).map(({ id }) => id)).toEqual(ids);
  });

  it('returns complete challenges for any text, which are rendered to the same', () => {
    const part = fc.oneof(anyText, fc.constantFrom('Payment ', plain, ', ', '"', '\\', 'id=', '__proto__=1'));
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        for (const one of parsePaymentChallenges(parts.join('')))
          expect(parsePaymentChallenges(renderPaymentChallenge(one))).toEqual([one]);
      }),
    );
  });
});

describe('readCharge', () => {
  it('reads what a charge asks for', () => {
    expect(readCharge(challenge)).toEqual({
      amount: '1000',
      asset: currency.toLowerCase(),
      payTo: recipient.toLowerCase(),
      chainId: 1328,
      credentialTypes: ['authorization'],
    });
    const untyped = { ...terms, amount: 1000, methodDetails: { chainId: 1, splits: [] } };
    expect(readCharge({ ...challenge, request: encode(untyped) })).toMatchObject({
      amount: '1000',
      credentialTypes: null,
    });
  });

  it.each<[string, Partial<ReceivedChallenge>]>([
    ['another method', { method: 'tempo' }],
    ['another intent', { intent: 'session' }],
    ['a request that is not JSON', { request: 'x' }],
    ['a request over 16 KiB', { request: encode({ ...terms, description: 'a'.repeat(16_384) }) }],
    ...[
      { ...terms, methodDetails: undefined },
      { ...terms, amount: '-1' },
      { ...terms, amount: '1e3' },
      { ...terms, currency: 'usd' },
      { ...terms, recipient: null },
      { ...terms, methodDetails: { ...methodDetails, chainId: '1328' } },
      { ...terms, methodDetails: { ...methodDetails, chainId: 0 } },
      { ...terms, methodDetails: { ...methodDetails, splits: [{ recipient, amount: '1' }] } },
      { ...terms, methodDetails: { ...methodDetails, splits: {} } },
      { ...terms, methodDetails: { ...methodDetails, credentialTypes: 'hash' } },
    ].map((request): [string, { request: string }] => [JSON.stringify(request), { request: encode(request) }]),
  ])('fails with %s', (_name, change) => {
    const reading = () => readCharge({ ...challenge, ...change } as ReceivedChallenge);
    expect(reading).toThrow(PaymentError);
    expect(reading).toThrow(expect.objectContaining({ code: 'malformed_challenge' }));
  });
});

it('encodes a credential that a server reads', () => {
  const hash = `0x${'ab'.repeat(32)}`;
  const sent = { ...challenge, expires: '2026-01-01T00:00:00.000Z' };
  const [scheme, token] = encodePaymentCredential({
    challenge: sent,
    payload: { type: 'hash', hash },
    source: 'did:pkh:eip155:1328:0x',
  }).split(' ');
  expect(scheme).toBe('Payment');
  expect(parsePaymentCredential(token!)).toMatchObject({
    challenge: { id: 'a', realm: 'r', request: sent.request, expires: sent.expires },
    payment: { kind: 'transaction', payload: { txHash: hash } },
  });
});
