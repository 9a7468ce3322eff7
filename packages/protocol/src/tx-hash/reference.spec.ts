import { createHmac } from 'node:crypto';

import fc from 'fast-check';

import { anyCharacter, anyText } from '../../../../test/harness/any-text.js';
import { createReference, readReference, verifyReference, type HmacSha256, type ReferenceTerms } from './reference.js';

const terms: ReferenceTerms = {
  method: 'GET',
  resource: '/api/weather',
  asset: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
  payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  network: 'chain-testnet',
};
const nonce = Uint8Array.from({ length: 16 }, (_, index) => index);
const secret = new Uint8Array(32).fill(7);
const nowMs = 1_763_725_000_000;
const nodeHmac: HmacSha256 = (key, message) => createHmac('sha256', key).update(message).digest();
const reference = createReference({ terms, priceBaseUnits: 1000n, nowMs, nonce, secret });

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const price = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });
const time = fc.integer({ min: 1e12, max: 1e13 - 1 });

describe('createReference', () => {
  it('has the documented form', () => {
    expect(reference).toMatch(/^chain-1763725000000-[0-9a-z]+$/);
  });

  it('is the nonce, the price and half an HMAC-SHA-256 (known answer, computed by other means)', () => {
    const time = Buffer.alloc(8);
    time.writeBigUInt64BE(BigInt(nowMs));
    const amount = Buffer.alloc(16);
    amount.writeBigUInt64BE(1000n, 8);
    const text =
      '3 GET 12 /api/weather 13 chain-testnet 0x4fcf1784b31630811181f670aea7a7bef803eaed 0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
    const message = Buffer.concat([time, nonce, amount, Buffer.from(text)]);
    const mac = createHmac('sha256', secret).update(message).digest().subarray(0, 16);
    const all = Buffer.concat([nonce, amount, mac]);
    let suffix = '';
    for (let at = 0; at < all.length; at += 4) suffix += all.readUInt32BE(at).toString(36).padStart(7, '0');
    expect(reference).toBe(`chain-1763725000000-${suffix}`);
    expect(reference).toBe(
      'chain-1763725000000-0001eyr0145fk70289g5n03cdgr300000000000000000000000000rs1o9q6nv09u1s7f0zjfgo40kym3bj',
    );
  });

  it('is the same with the HMAC of node:crypto', () => {
    fc.assert(
      fc.property(bytes(32), bytes(16), price, time, (key, random, priceBaseUnits, at) => {
        const input = { terms, priceBaseUnits, nowMs: at, nonce: random, secret: key };
        expect(createReference({ ...input, hmac: nodeHmac })).toBe(createReference(input));
      }),
    );
  });

  it.each([
    ['a short nonce', { nonce: new Uint8Array(15) }],
    ['a negative price', { priceBaseUnits: -1n }],
    ['a price over 128 bits', { priceBaseUnits: 2n ** 128n }],
    ['a time in seconds', { nowMs: 1_763_725_000 }],
    ['a broken time', { nowMs: Number.NaN }],
    ['a short secret', { secret: new Uint8Array(15) }],
  ])('refuses %s', (_case, change) => {
    expect(() => createReference({ terms, priceBaseUnits: 1000n, nowMs, nonce, secret, ...change })).toThrow(
      RangeError,
    );
  });
});

describe('readReference', () => {
  it('reads back every part', () => {
    fc.assert(
      fc.property(bytes(16), price, time, (random, priceBaseUnits, issuedAtMs) => {
        const text = createReference({ terms, priceBaseUnits, nowMs: issuedAtMs, nonce: random, secret });
        const parts = readReference(text);
        expect(parts).toEqual({ issuedAtMs, nonce: random, priceBaseUnits, mac: expect.any(Uint8Array) });
        expect(parts?.mac).toHaveLength(16);
      }),
    );
  });

  it.each([
    '',
    'chain-',
    'chain-1763725000000-abc123',
    reference.slice(0, -1),
    `${reference}0`,
    reference.replace('chain-', 'Chain-'),
    reference.replace('chain-1', 'chain-0'),
    reference.replace('chain-1763725000000', 'chain- 763725000000'),
    `${reference.slice(0, 20)}${'z'.repeat(84)}`, // limbs above 32 bits
    `${reference.slice(0, -1)}-`,
    `${reference.slice(0, -1)}Z`,
    `${reference.slice(0, -1)}\u0130`,
    'chain-'.repeat(1_000_000),
  ])('returns null for %.60s', (text) => {
    expect(readReference(text)).toBeNull();
  });

  it('returns parts or null for any text', () => {
    const near = fc
      .tuple(
        fc.integer({ min: 0, max: reference.length - 1 }),
        fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
      )
      .map(([at, character]) => reference.slice(0, at) + character + reference.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(anyText, near), (text) => {
        const parts = readReference(text);
        if (parts) expect(parts.nonce).toHaveLength(16);
      }),
    );
  });
});

describe('verifyReference', () => {
  it('verifies its own reference, with its price and time', () => {
    expect(verifyReference({ reference, terms, secrets: [secret] })).toEqual({
      issuedAtMs: nowMs,
      priceBaseUnits: 1000n,
    });
    expect(verifyReference({ reference, terms, secrets: [secret], hmac: nodeHmac })).not.toBeNull();
  });

  it('accepts the secrets of a rotation in any place, and no other', () => {
    const other = new Uint8Array(32).fill(8);
    expect(verifyReference({ reference, terms, secrets: [other, secret] })).not.toBeNull();
    expect(verifyReference({ reference, terms, secrets: [secret, other] })).not.toBeNull();
    expect(verifyReference({ reference, terms, secrets: [other] })).toBeNull();
    expect(verifyReference({ reference, terms, secrets: [] })).toBeNull();
  });

  it.each<[string, Partial<ReferenceTerms>]>([
    ['method', { method: 'POST' }],
    ['resource', { resource: '/api/other' }],
    ['asset', { asset: terms.payTo }],
    ['payTo', { payTo: terms.asset }],
    ['network', { network: 'chain-mainnet' }],
    ['boundary between two terms', { method: 'GET 12', resource: 'api/weather' }],
  ])('refuses another %s', (_case, change) => {
    expect(verifyReference({ reference, terms: { ...terms, ...change }, secrets: [secret] })).toBeNull();
  });

  it('ignores the letter case of an address', () => {
    const spelled = { ...terms, asset: terms.asset.toLowerCase() as `0x${string}` };
    expect(verifyReference({ reference, terms: spelled, secrets: [secret] })).not.toBeNull();
  });

  it('refuses every change of a single character', () => {
    for (let at = 0; at < reference.length; at += 1) {
      const changed = reference.slice(0, at) + (reference[at] === '1' ? '2' : '1') + reference.slice(at + 1);
      expect(verifyReference({ reference: changed, terms, secrets: [secret] })).toBeNull();
    }
  });

  it('refuses garbage', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(verifyReference({ reference: text, terms, secrets: [secret] })).toBeNull();
      }),
    );
  });

  it('accepts terms longer than its first buffer', () => {
    const long = { ...terms, resource: `/${'é'.repeat(2000)}` };
    const text = createReference({ terms: long, priceBaseUnits: 1n, nowMs, nonce, secret });
    expect(verifyReference({ reference: text, terms: long, secrets: [secret] })).not.toBeNull();
    expect(verifyReference({ reference: text, terms, secrets: [secret] })).toBeNull();
  });
});
