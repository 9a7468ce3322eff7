import fc from 'fast-check';
import { Redis } from 'ioredis';

import { startRedis } from '../../../tools/devnet/processes/redis.js';
import { createFingerprint, createOwner, hashRetryKey } from './create-keys.js';
import { locatePayment, readPaymentId, type PaymentId } from './payment-id.js';
import { encodeRecord, readRecord, type PaymentRecord } from './payment-record.js';
import RECORD_LUA from './scripts/shared/record.lua';
import { decodeAnswer, encodeAnswer } from './stored-answer.js';

const key = fc.stringMatching(/^[\w-]{1,64}$/);
const natural = fc.nat();
const clock = fc.integer({ min: 1, max: 4e12 });
const record: fc.Arbitrary<PaymentRecord> = fc.record({
  state: fc.constantFrom('leased', 'answered', 'done', 'released'),
  epoch: natural,
  generation: natural,
  releases: natural,
  reproductions: natural,
  atMs: clock,
  untilMs: fc.option(clock),
  owner: fc.option(key),
  fingerprint: key,
  retryKey: fc.option(key),
});

const digits = (count: number) =>
  fc.stringMatching(new RegExp(`^[0-9a-fA-F]{${count}}$`)).map((text) => `0x${text}` as const);
const paymentId: fc.Arbitrary<PaymentId> = fc.oneof(
  fc.record({ kind: fc.constant('transfer' as const), chainId: natural, txHash: digits(64), logIndex: natural }),
  fc.record({ kind: fc.constant('transaction' as const), chainId: natural, txHash: digits(64) }),
  fc.record({
    kind: fc.constant('authorization' as const),
    chainId: natural,
    asset: digits(40),
    from: digits(40),
    nonce: digits(64),
  }),
  fc.record({
    kind: fc.constant('permit2' as const),
    chainId: natural,
    owner: digits(40),
    nonce: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
  }),
);

describe('what the ledger writes', () => {
  const read = ({ line, by }: ReturnType<typeof encodeRecord>) => readRecord(line, by);

  it('of a payment reads back the same', () => {
    fc.assert(fc.property(record, (one) => expect(read(encodeRecord(one))).toEqual(one)));
  });

  it("of a payment stays in Redis's compact encoding", () => {
    const now = Date.now();
    const counts = { epoch: 99, generation: 9, releases: 5, reproductions: 5 };
    const keys = { owner: createOwner(), fingerprint: hashRetryKey('f'), retryKey: hashRetryKey('k') };
    const { line, by } = encodeRecord({ state: 'leased', ...counts, atMs: now, untilMs: now, ...keys });
    expect([line.length <= 64, by.length <= 64]).toEqual([true, true]);
  });

  it.each([
    ['', 'f,'],
    ['L', 'f,'],
    ['X,1,1,0,0,1,,', 'f,'],
    ['L,1,1,0,0,,2,o', 'f,k'],
    ['L,1,1,0,0,1,2,o,', 'f,k'],
    [' L,1,1,0,0,1,2,o', 'f,k'],
    ['L,1,1,0,0,1,2,o;', 'f,k'],
    ['L,1,1,0,0,1,2,o', ''],
    ['L,1,1,0,0,1,2,o', ',k'],
  ])('is not read if it is not a record: %j for %j', (line, by) => expect(readRecord(line, by)).toBeNull());

  it('is the same from Lua as from TypeScript', async () => {
    const server = await startRedis();
    const redis = new Redis(server.url);
    const copy = `${RECORD_LUA} write_record(KEYS[1], 'copy', read_record(ARGV[1], ARGV[2])) return read_entry(KEYS[1])['copy'].owner`;
    try {
      await fc.assert(
        fc.asyncProperty(record, async (one) => {
          const { line, by } = encodeRecord(one);
          expect(await redis.eval(copy, 1, 'record', line, by)).toBe(one.owner ?? '');
          expect(await redis.hgetall('record')).toEqual({ copy: line, 'copy:by': by });
        }),
      );
    } finally {
      redis.disconnect();
      await server.stop();
    }
  });

  it('names a payment so that the name gives back its id, whatever its case', () => {
    const lower = (id: PaymentId): unknown =>
      JSON.parse(JSON.stringify(id).replaceAll(/"0x[^"]+"/g, (hex) => hex.toLowerCase()));
    fc.assert(fc.property(paymentId, (id) => expect(readPaymentId(locatePayment(id))).toEqual(lower(id))));
  });

  // Prevents: one Permit2 nonce is spent twice under two names.
  it.each(['01', '0x1', '-1', '1e3', ' 1', '', '1'.repeat(79)])('does not accept %j as a Permit2 nonce', (nonce) => {
    const id = { kind: 'permit2', chainId: 1, owner: `0x${'ab'.repeat(20)}`, nonce } as const;
    expect(() => locatePayment(id)).toThrow(TypeError);
  });

  it('of an answer reads back byte for byte', () => {
    const header = fc.tuple(fc.string(), fc.string({ unit: 'binary' }));
    const body = fc.uint8Array().map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(
        fc.record({ status: fc.integer({ min: 200, max: 599 }), headers: fc.array(header), body }),
        (answer) => expect(decodeAnswer(encodeAnswer(answer))).toEqual(answer),
      ),
    );
  });
});

describe('keys of a request', () => {
  const parts = { method: 'GET', path: '/api/weather', query: 'a=1' };

  it('are 22 base64url characters, and owners never repeat', () => {
    const owners = Array.from({ length: 1000 }, createOwner);
    for (const made of [...owners, hashRetryKey('x'), createFingerprint(parts)]) expect(made).toMatch(/^[\w-]{22}$/);
    expect(new Set(owners).size).toBe(1000);
  });

  it('differ with each part of the request', () => {
    const body = Buffer.from('{}');
    const made = [
      parts,
      { ...parts, method: 'POST' },
      { ...parts, path: '/api/weather/' },
      { ...parts, query: 'a=2' },
      { ...parts, path: '/api/weather\na=1', query: '' },
      { ...parts, body },
      { ...parts, body: Buffer.from('{ }') },
    ].map(createFingerprint);
    expect(new Set(made).size).toBe(made.length);
    expect(createFingerprint({ ...parts, body: Buffer.alloc(0) })).toBe(createFingerprint(parts));
    expect(createFingerprint({ ...parts, body: new Uint8Array(body) })).toBe(createFingerprint({ ...parts, body }));
  });
});
