import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import fc from 'fast-check';

import { expectFailure, useFolder } from '../../test/set-up.js';
import type { AuthorizableCharge } from '../offer/charge-requirement.js';
import { FilePaymentStore } from './file-payment-store.js';
import { parseStoredPayment } from './parse-stored-payment.js';
import { abandonPayment, MemoryPaymentStore, type PaymentStore, type StoredPayment } from './payment-store.js';

const key = 'ab'.repeat(32);
const payment: StoredPayment = {
  state: 'signed',
  method: 'GET',
  url: 'https://example.com/api/weather',
  requestHash: 'cd'.repeat(32),
  idempotencyKey: 'k',
  chainId: 1328,
  payer: `0x${'11'.repeat(20)}`,
  requirement: {
    scheme: 'exact',
    network: 'chain-testnet',
    maxAmountRequired: '1000',
    resource: '/api/weather',
    description: '',
    mimeType: 'application/json',
    payTo: `0x${'22'.repeat(20)}`,
    maxTimeoutSeconds: 300,
    asset: `0x${'33'.repeat(20)}`,
    extra: { name: 'USDC', version: '2', reference: 'chain-1-a' },
  },
  createdAtMs: 1,
  transaction: { txHash: `0x${'44'.repeat(32)}`, rawTransaction: '0x02', nonce: 0 },
  authorization: null,
  moves: 0,
  movedTo: null,
};
const signed: StoredPayment = {
  ...payment,
  requirement: {
    x402Version: 2,
    scheme: 'exact',
    network: 'eip155:1328',
    maxAmountRequired: '1000',
    maxTimeoutSeconds: 300,
    payTo: `0x${'22'.repeat(20)}`,
    asset: `0x${'33'.repeat(20)}`,
    extra: { name: 'USDC', version: '2' },
    sent: { accepted: { anything: [1] } },
  },
  transaction: null,
  authorization: {
    kind: 'authorization',
    authorization: {
      from: `0x${'11'.repeat(20)}`,
      to: `0x${'22'.repeat(20)}`,
      value: '1000',
      validAfter: '0',
      validBefore: '300',
      nonce: `0x${'55'.repeat(32)}`,
    },
    signature: `0x${'66'.repeat(65)}`,
  },
};

const permitted: StoredPayment = {
  ...signed,
  requirement: {
    x402Version: 2,
    scheme: 'upto',
    network: 'eip155:1328',
    maxAmountRequired: '1000',
    maxTimeoutSeconds: 300,
    payTo: `0x${'22'.repeat(20)}`,
    asset: `0x${'33'.repeat(20)}`,
    sent: { accepted: { anything: [1] } },
    extra: { name: null, assetTransferMethod: 'permit2', facilitatorAddress: `0x${'77'.repeat(20)}` },
  },
  authorization: {
    kind: 'permit2',
    scheme: 'upto',
    permit2Authorization: {
      from: `0x${'11'.repeat(20)}`,
      permitted: { token: `0x${'33'.repeat(20)}`, amount: '1000' },
      spender: `0x${'88'.repeat(20)}`,
      nonce: '5',
      deadline: '300',
      witness: { to: `0x${'22'.repeat(20)}`, facilitator: `0x${'77'.repeat(20)}`, validAfter: '0' },
    },
    signature: `0x${'66'.repeat(65)}`,
  },
};

const terms = { amount: '1000', currency: `0x${'33'.repeat(20)}`, recipient: `0x${'22'.repeat(20)}` };
const challenge = {
  id: 'c1',
  realm: 'shop.example',
  method: 'evm',
  intent: 'charge',
  expires: '2026-01-01T00:00:00.000Z',
  request: Buffer.from(JSON.stringify({ ...terms, methodDetails: { chainId: 1328 } })).toString('base64url'),
  header: 'payment-authorization',
  opaque: 'eyJhIjoiYiJ9',
};
const charge: Omit<AuthorizableCharge, 'extra'> = {
  scheme: 'charge',
  network: 'eip155:1328',
  maxAmountRequired: '1000',
  maxTimeoutSeconds: 300,
  challenge,
  payTo: `0x${'22'.repeat(20)}`,
  asset: `0x${'33'.repeat(20)}`,
};
const authorized: StoredPayment = { ...signed, requirement: { ...charge, extra: { name: 'USDC', version: '2' } } };
const transferred: StoredPayment = { ...payment, requirement: { ...charge, extra: { name: null, reference: 'c1' } } };

const directory = useFolder();

describe.each<[string, () => PaymentStore]>([
  ['MemoryPaymentStore', () => new MemoryPaymentStore()],
  ['FilePaymentStore', () => new FilePaymentStore(join(directory(), 'new'))],
])('%s', (_name, create) => {
  it('keeps the newest revision of each key', async () => {
    const store = create();
    expect(await store.read(key)).toBeNull();
    expect(await store.list()).toEqual([]);
    expect(await store.write(key, { ...payment, state: 'intended', transaction: null }, 0)).toBe(true);
    expect(await store.write(key, payment, 1)).toBe(true);
    expect(await store.read(key)).toEqual({ payment, revision: 2 });
    expect(await store.list()).toEqual([{ key, payment, revision: 2 }]);
  });

  it('lets one of many writers win, at every revision', async () => {
    const store = create();
    for (let revision = 0; revision < 5; revision += 1) {
      const writes = Array.from({ length: 20 }, (_, writer) =>
        store.write(key, { ...payment, idempotencyKey: String(writer) }, revision),
      );
      const results = await Promise.all(writes);
      expect(results.filter(Boolean)).toHaveLength(1);
      expect((await store.read(key))?.payment.idempotencyKey).toBe(String(results.indexOf(true)));
    }
  });

  it('refuses a writer that read an old revision', async () => {
    const store = create();
    await store.write(key, payment, 0);
    await store.write(key, payment, 1);
    expect(await store.write(key, payment, 0)).toBe(false);
    expect(await store.write(key, payment, 1)).toBe(false);
    expect(await store.write(key, payment, 7)).toBe(false);
  });

  it('abandons an open payment, and no other', async () => {
    const store = create();
    expect(await abandonPayment(store, key)).toBe(false);
    await store.write(key, payment, 0);
    expect(await abandonPayment(store, key)).toBe(true);
    expect(await abandonPayment(store, key)).toBe(false);
    expect((await store.read(key))?.payment.state).toBe('abandoned');
  });
});

describe('FilePaymentStore', () => {
  it('shares a directory with other stores and keeps the last two revisions', async () => {
    const [one, other] = [new FilePaymentStore(directory()), new FilePaymentStore(directory())];
    await one.write(key, payment, 0);
    await other.write(key, { ...payment, state: 'redeemed' }, 1);
    expect((await one.read(key))?.payment.state).toBe('redeemed');
    await one.write(key, payment, 2);
    expect((await readdir(directory())).sort()).toEqual([`${key}.2.json`, `${key}.3.json`]);
  });

  it.each([
    '',
    '{',
    'null',
    '{"state":"signed"}',
    JSON.stringify({ ...payment, transaction: null }),
    JSON.stringify({ ...payment, authorization: undefined }),
  ])('reports a damaged file instead of losing the payment: %s', async (text) => {
    await writeFile(join(directory(), `${key}.1.json`), text);
    await expectFailure(new FilePaymentStore(directory()).read(key), 'store_damaged');
  });

  /** Lets a week and a second pass for all that is stored. */
  async function passWeek(): Promise<void> {
    const then = Date.now() / 1000 - 7 * 24 * 3600 - 1;
    for (const name of await readdir(directory())) await utimes(join(directory(), name), then, then);
  }

  it('removes what was closed a week ago, and nothing else', async () => {
    const closed = ['intended', 'redeemed', 'failed', 'replaced', 'abandoned'] as const;
    const keyOf = (index: number) => String(index).repeat(64);
    const store = new FilePaymentStore(directory());
    for (const [index, state] of closed.entries()) {
      await store.write(keyOf(index), payment, 0);
      await store.write(keyOf(index), { ...payment, state }, 1);
    }
    await store.write(keyOf(8), payment, 0);
    await passWeek();
    await writeFile(join(directory(), `${keyOf(9)}.1.json`), 'damaged');
    await new FilePaymentStore(directory()).write(key, { ...payment, state: 'redeemed' }, 0);
    const left = [`${keyOf(8)}.1.json`, `${keyOf(9)}.1.json`, `${key}.1.json`];
    expect((await readdir(directory())).sort()).toEqual(left);
  });

  // Prevents: a writer that knows a removed payment, and one that knows none, both sign.
  it('refuses a writer whose last revision was removed while it wrote', async () => {
    const [slow, other] = [new FilePaymentStore(directory()), new FilePaymentStore(directory())];
    await slow.write(key, { ...payment, state: 'redeemed' }, 0);
    await passWeek();
    const fs = process.getBuiltinModule('node:fs/promises');
    const link = jest.spyOn(fs, 'link').mockImplementationOnce(async (...names) => {
      link.mockRestore();
      expect(await new FilePaymentStore(directory()).write('9'.repeat(64), payment, 0)).toBe(true);
      expect(await other.write(key, payment, 0)).toBe(true);
      await fs.link(...names);
    });
    expect(await slow.write(key, payment, 1)).toBe(false);
    expect(await other.read(key)).toEqual({ payment, revision: 1 });
  });

  it('says where it cannot write', async () => {
    await writeFile(join(directory(), 'file'), '');
    const store = new FilePaymentStore(join(directory(), 'file', 'payments'));
    const refusal = { code: 'store_unavailable', message: expect.stringMatching(/file.payments \(ENOTDIR\)\.$/) };
    await expect(store.write(key, payment, 0)).rejects.toMatchObject(refusal);
  });

  it('ignores files that are not its own', async () => {
    await writeFile(join(directory(), 'notes.txt'), 'x');
    expect(await new FilePaymentStore(directory()).list()).toEqual([]);
  });
});

describe('parseStoredPayment', () => {
  it('reads back what was written', () => {
    const movedTo = { key, url: 'https://example.com/', requestHash: 'ef'.repeat(32), afterRevision: 2 };
    const moved = { ...payment, state: 'moved', moves: 1, movedTo };
    for (const written of [payment, signed, permitted, authorized, transferred, moved])
      expect(parseStoredPayment(JSON.parse(JSON.stringify(written)))).toEqual(written);
  });

  it.each<[string, object]>([
    ['a parameter that is missing', { challenge: { ...challenge, realm: undefined } }],
    ['a parameter that is no text', { challenge: { ...challenge, opaque: 1 } }],
    ['another method', { challenge: { ...challenge, method: 'tempo' } }],
    ['a request that is not JSON', { challenge: { ...challenge, request: 'x' } }],
    ['a header that is not for credentials', { challenge: { ...challenge, header: 'Cookie' } }],
    ['an end that is not a time', { challenge: { ...challenge, expires: 'soon' } }],
    ['a validity that is no number', { maxTimeoutSeconds: '300' }],
    ['nothing that says how it is paid', { extra: null }],
  ])('refuses a charge of MPP with %s', (_name, change) => {
    const damaged = { ...authorized, requirement: { ...authorized.requirement, ...change } };
    expect(() => parseStoredPayment(JSON.parse(JSON.stringify(damaged)))).toThrow(Error);
  });

  it('returns a payment or an error for any content', () => {
    const changed = fc
      .tuple(fc.constantFrom(...Object.keys(payment)), fc.anything())
      .map(([field, value]) => ({ ...payment, [field]: value }));
    fc.assert(
      fc.property(fc.oneof(fc.anything(), changed), (value) => {
        try {
          expect(parseStoredPayment(value).payer).toMatch(/^0x/);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
    );
  });
});
