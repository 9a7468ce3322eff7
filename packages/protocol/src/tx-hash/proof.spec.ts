import fc from 'fast-check';

import { anyText } from '../../../../test/harness/any-text.js';
import { PaymentError } from '../wire/payment-error.js';
import {
  encodeProof,
  MAX_PROOF_HEADER_BYTES,
  parseProof,
  parseProofOrSigned,
  proofMessage,
  type PaymentProof,
} from './proof.js';

const network = 'chain-testnet';
const txHash = `0x${'aB'.repeat(32)}` as const;
const proof: PaymentProof = {
  x402Version: 1,
  scheme: 'exact',
  network,
  payload: { txHash, amount: '1000', from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
};

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
const encodeText = (text: string): string => Buffer.from(text).toString('base64');

function codeOf(header: string, accepted: string | string[] = network): string {
  try {
    parseProof(header, { network: accepted });
  } catch (error) {
    if (error instanceof PaymentError) return error.code;
    throw error;
  }
  return 'accepted';
}

describe('parseProof', () => {
  it('reads the documented proof and keeps the spelling of the hash', () => {
    expect(parseProof(encode(proof), { network })).toEqual(proof);
  });

  it('reads back whatever encodeProof wrote', () => {
    const hexBytes = fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('hex'));
    const payload = fc.record(
      {
        txHash: fc.stringMatching(/^0x[0-9a-fA-F]{64}$/) as fc.Arbitrary<`0x${string}`>,
        amount: fc.string({ maxLength: 80 }),
        from: fc.string({ maxLength: 80 }),
        reference: fc.string({ unit: 'grapheme', maxLength: 200 }),
        signature: hexBytes.map((digits) => `0x${digits}` as const),
      },
      { requiredKeys: ['txHash'] },
    );
    fc.assert(
      fc.property(payload, (fields) => {
        const written: PaymentProof = { ...proof, payload: fields };
        expect(parseProof(encodeProof(written), { network })).toEqual(written);
      }),
    );
  });

  it('accepts one of several network names', () => {
    expect(codeOf(encode({ ...proof, network: 'sei-testnet' }), ['chain-testnet', 'sei-testnet'])).toBe('accepted');
  });

  it.each([
    ['an empty header', ''],
    ['text that is not base64', '%%%'],
    ['base64 of text that is not JSON', encodeText('hello')],
    ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x80]).toString('base64')],
    ['null', encode(null)],
    ['an array', encode([proof])],
    ['a string', encode('proof')],
    ['no payload', encode({ ...proof, payload: undefined })],
    ['an array as payload', encode({ ...proof, payload: [txHash] })],
    ['no hash', encode({ ...proof, payload: {} })],
    ['a short hash', encode({ ...proof, payload: { txHash: '0x12' } })],
    ['a hash with a trailing line break', encode({ ...proof, payload: { txHash: `${txHash}\n` } })],
    ['a number', encodeText('1e999')],
    ['a hash with a NUL', encode({ ...proof, payload: { txHash: `${txHash}\u0000` } })],
    ['a hash in an array', encode({ ...proof, payload: { txHash: [txHash] } })],
    ['a reference that is a number', encode({ ...proof, payload: { txHash, reference: 1 } })],
    ['a signature that is not hexadecimal', encode({ ...proof, payload: { txHash, signature: '0xzz' } })],
    ['a signature of half a byte', encode({ ...proof, payload: { txHash, signature: '0x123' } })],
    ['one byte too many', encodeText(JSON.stringify(proof).padEnd(6145, ' '))],
    ['a megabyte', 'A'.repeat(1_000_000)],
  ])('refuses %s as malformed_proof', (_case, header) => {
    expect(codeOf(header)).toBe('malformed_proof');
  });

  it('reads a header of exactly the longest size', () => {
    const header = encodeText(JSON.stringify(proof).padEnd(6144, ' '));
    expect(header).toHaveLength(MAX_PROOF_HEADER_BYTES);
    expect(codeOf(header)).toBe('accepted');
  });

  it.each([
    ['wrong_version', { ...proof, x402Version: 2 }],
    ['wrong_version', { ...proof, x402Version: '1' }],
    ['wrong_version', {}],
    ['wrong_scheme', { ...proof, scheme: 'upto' }],
    ['wrong_network', { ...proof, network: 'chain-mainnet' }],
    ['wrong_network', { ...proof, network: [network] }],
  ])('fails with %s', (code, value) => {
    expect(codeOf(encode(value))).toBe(code);
  });

  it('drops informational fields of the wrong type, which the specification does not check', () => {
    const parsed = parseProof(encode({ ...proof, payload: { txHash, amount: 1000, from: null } }), { network });
    expect(parsed.payload).toEqual({ txHash });
  });

  it('ignores __proto__ and pollutes nothing', () => {
    expect(codeOf(encodeText(`{"__proto__":${JSON.stringify(proof)}}`))).toBe('wrong_version');
    const inherited = `{"x402Version":1,"scheme":"exact","network":"${network}","payload":{"__proto__":{"txHash":"${txHash}"}}}`;
    expect(codeOf(encodeText(inherited))).toBe('malformed_proof');
    const beside = `{"x402Version":1,"scheme":"exact","network":"${network}","payload":{"txHash":"${txHash}","__proto__":{"reference":"x"},"constructor":{"prototype":{"y":1}}}}`;
    const parsed = parseProof(encodeText(beside), { network });
    expect(parsed.payload).toEqual({ txHash });
    expect(Object.getPrototypeOf(parsed.payload)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['reference']).toBeUndefined();
  });

  it('ignores fields of a polluted prototype', () => {
    const prototype = Object.prototype as unknown as Record<string, unknown>;
    prototype['payload'] = proof.payload;
    try {
      expect(codeOf(encode({ ...proof, payload: undefined }))).toBe('malformed_proof');
    } finally {
      delete prototype['payload'];
    }
  });

  it('survives JSON nested as deeply as a header can hold, and deeper', () => {
    for (const depth of [3000, 10_000]) {
      const nested = '['.repeat(depth) + ']'.repeat(depth);
      expect(codeOf(encodeText(nested))).toBe('malformed_proof');
      expect(codeOf(encodeText(`{"x402Version":${nested}}`))).toBe('malformed_proof');
      expect(codeOf(encodeText('[['.repeat(depth)))).toBe('malformed_proof');
    }
  });

  it('returns a proof or one of four codes for any header', () => {
    const codes = ['malformed_proof', 'wrong_version', 'wrong_scheme', 'wrong_network', 'accepted'];
    const structured = fc
      .record({
        x402Version: fc.constantFrom(1, 2, '1'),
        scheme: fc.constantFrom('exact', 1),
        network: fc.anything(),
        payload: fc.anything(),
      })
      .map((value) => encode(fc.stringify(value).length > 4000 ? null : value));
    const header = fc.oneof(anyText, fc.base64String({ maxLength: 400 }), fc.json().map(encodeText), structured);
    fc.assert(
      fc.property(header, (value) => {
        expect(codes).toContain(codeOf(value));
      }),
    );
  });
});

describe('parseProofOrSigned', () => {
  const signed = {
    signature: `0x${'33'.repeat(65)}`,
    authorization: {
      from: `0x${'11'.repeat(20)}`,
      to: `0x${'22'.repeat(20)}`,
      value: '1000',
      validAfter: '0',
      validBefore: '1800000000',
      nonce: `0x${'44'.repeat(32)}`,
    },
  };
  const read = (payload: unknown) => parseProofOrSigned(encode({ ...proof, payload }), { network });

  it('distinguishes the two by the payload', () => {
    expect(read(proof.payload)).toEqual(proof);
    expect(read(signed)).toEqual({ ...proof, payload: { kind: 'authorization', ...signed } });
  });

  it.each([
    ['both', { ...signed, txHash }],
    ['neither', { signature: signed.signature }],
    ['an authorization without signature', { authorization: signed.authorization }],
  ])('refuses a payload that is %s', (_case, payload) => {
    expect(() => read(payload)).toThrow(expect.objectContaining({ code: 'malformed_proof' }) as Error);
  });

  it('does not accept signed payments in parseProof', () => {
    expect(codeOf(encode({ ...proof, payload: signed }))).toBe('malformed_proof');
  });
});

describe('proofMessage', () => {
  it('is the same text for both spellings of a hash', () => {
    expect(proofMessage('chain-1-a', txHash)).toBe(
      `I paid for the challenge chain-1-a\nwith the transaction 0x${'ab'.repeat(32)}`,
    );
  });
});
