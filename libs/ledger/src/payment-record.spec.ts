import fc from 'fast-check';

import { anyText } from '../../../test/harness/any-text.js';
import { useRedis } from '../../../test/harness/stack/borrow-redis.js';
import { createFingerprint, createOwner, hashRetryKey } from './create-keys.js';
import { locatePayment, readPaymentId, type PaymentId } from './payment-id.js';
import { readRecord } from './payment-record.js';
import RECORD_LUA from './scripts/shared/record.lua';
import { decodeAnswer, encodeAnswer } from './stored-answer.js';

const key = fc.stringMatching(/^[\w-]{1,64}$/);
const natural = fc.nat();
const clock = fc.integer({ min: 1, max: 4e12 });
const letter = fc.constantFrom('L', 'A', 'D', 'R', 'F');
const orNothing = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: '' });
/** The two fields of a record. */
const fields = fc.tuple(
  fc.tuple(letter, natural, natural, natural, natural, clock, orNothing(clock), orNothing(key)).map(String),
  fc.tuple(key, orNothing(key)).map(String),
);

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
  const redis = useRedis();

  it("of a payment stays in Redis's compact encoding", () => {
    const now = Date.now();
    const line = `L,99,9,5,5,${now},${now},${createOwner()}`;
    const by = `${hashRetryKey('f')},${hashRetryKey('k')}`;
    expect(readRecord(line, by)).toMatchObject({ state: 'leased', reproductions: 5, untilMs: now });
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

  it('reads the same in Lua as in TypeScript, and is written back the same', async () => {
    const copy = `${RECORD_LUA} write_record(KEYS[1], 'copy', read_record(ARGV[1], ARGV[2]))
      return cjson.encode(read_entry(KEYS[1])['copy'])`;
    const letters = { leased: 'L', answered: 'A', done: 'D', released: 'R', refunding: 'F' };
    await fc.assert(
      fc.asyncProperty(fields, async ([line, by]) => {
        const inLua = JSON.parse((await redis.eval(copy, 1, 'record', line, by)) as string) as unknown;
        const { state, atMs, untilMs, owner, retryKey, ...same } = readRecord(line, by)!;
        const others = { at: atMs, til: untilMs ?? 0, owner: owner ?? '', key: retryKey ?? '' };
        expect(inLua).toEqual({ ...same, ...others, state: letters[state] });
        expect(await redis.hgetall('record')).toEqual({ copy: line, 'copy:by': by });
      }),
    );
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
    const header = fc.tuple(fc.string(), anyText);
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
