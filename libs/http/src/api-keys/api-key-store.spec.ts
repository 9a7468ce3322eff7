import { Redis } from 'ioredis';

import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { ApiKeyStore, type NewApiKey } from './api-key-store.js';
import { mayAccept, mayUseWallet } from './api-key.js';

const KEYS = 'tollgate:{api-keys}';
const BOT: NewApiKey = { name: 'bot', scopes: ['submit', 'read'], wallets: ['main'] };

let server: BorrowedRedis;
let redis: Redis;
let store: ApiKeyStore;

beforeAll(async () => {
  server = await borrowRedis();
  redis = new Redis(server.url);
  store = new ApiKeyStore(redis);
});

beforeEach(() => redis.flushall());

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

describe('ApiKeyStore', () => {
  it('authenticates a token as the key that was created', async () => {
    const { key, token } = await store.create(BOT);
    expect(token).toMatch(new RegExp(`^tgk_${key.id}_[\\w-]{43}$`));
    expect(key).toMatchObject({ ...BOT, revokedAtMs: null });
    expect(await store.authenticate(token)).toEqual(key);
    expect(await store.read(key.id)).toEqual(key);
  });

  it('stores nothing that a token could be made from', async () => {
    const { token } = await store.create(BOT);
    const secret = token.slice(-43);
    expect(JSON.stringify(await redis.hgetall(KEYS))).not.toContain(secret.slice(0, 8));
  });

  it('refuses every other token', async () => {
    const { key, token } = await store.create(BOT);
    const other = await store.create(BOT);
    const wrong = [
      `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
      `tgk_${key.id}_${other.token.slice(-43)}`,
      `tgk_ffffffffffff_${token.slice(-43)}`,
      ...[token.slice(1), `${token} `, `${token}\n`, token.toUpperCase(), '', key.id, 'x'.repeat(100_000)],
    ];
    for (const one of wrong) expect(await store.authenticate(one)).toBeNull();
  });

  it('refuses a key from the moment it is revoked, and still lists it', async () => {
    const { key, token } = await store.create(BOT);
    expect(await store.revoke(key.id)).toBe(true);
    expect(await store.authenticate(token)).toBeNull();
    expect(await store.read(key.id)).toMatchObject({ id: key.id, revokedAtMs: expect.any(Number) });
    expect(await store.revoke('ffffffffffff')).toBe(false);
  });

  it('keeps the time of the first revocation, however many follow', async () => {
    const { key } = await store.create(BOT);
    const stores = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const connection = redis.duplicate();
        await new ApiKeyStore(connection).revoke(key.id);
        const read = await new ApiKeyStore(connection).read(key.id);
        connection.disconnect();
        return read?.revokedAtMs;
      }),
    );
    expect(new Set(stores).size).toBe(1);
    await store.revoke(key.id);
    expect((await store.read(key.id))?.revokedAtMs).toBe(stores[0]);
  });

  it('lists keys in order of creation, without their tokens', async () => {
    const created = [];
    for (const name of ['one', 'two', 'three']) created.push((await store.create({ ...BOT, name })).key);
    await store.revoke(created[1]!.id);
    const { keys, unreadable } = await store.list();
    expect(unreadable).toEqual([]);
    expect(new Set(keys.map(({ name }) => name))).toEqual(new Set(['one', 'two', 'three']));
    const times = keys.map(({ createdAtMs }) => createdAtMs);
    expect(times).toEqual([...times].sort((one, other) => one - other));
    expect(keys.filter(({ revokedAtMs }) => revokedAtMs !== null).map(({ name }) => name)).toEqual(['two']);
    expect(JSON.stringify(keys)).not.toMatch(/token/i);
  });

  it('limits a key from its next use on, and no revocation is lost by it', async () => {
    const { key, token } = await store.create({
      name: 'shop',
      scopes: ['settle'],
      wallets: [],
      accepts: ['usdc-base'],
    });
    const names = ['usdc-base', 'eip155:8453'];
    expect([mayAccept(key, names), mayAccept(key, ['weth-base', 'eip155:8453'])]).toEqual([true, false]);
    expect(await store.limit(key.id, ['eip155:8453', 'eip155:8453'])).toEqual({ ...key, accepts: ['eip155:8453'] });
    const changed = await store.authenticate(token);
    expect([mayAccept(changed!, names), mayAccept(changed!, ['usdc-base', 'eip155:1329'])]).toEqual([true, false]);
    await store.revoke(key.id);
    expect(await store.limit(key.id, ['*'])).toMatchObject({ accepts: ['*'], revokedAtMs: expect.any(Number) });
    expect(await store.authenticate(token)).toBeNull();
    expect(await store.limit('ffffffffffff', ['*'])).toBeNull();
  });

  it('gives a key that settles all there is, unless it is limited, and any other key nothing', async () => {
    const shop = await store.create({ name: 'shop', scopes: ['settle'], wallets: [] });
    expect([shop.key.accepts, (await store.create(BOT)).key.accepts]).toEqual([['*'], []]);
    await expect(store.create({ ...BOT, accepts: ['*'] })).rejects.toThrow(TypeError);
    for (const accepts of [[], ['two words'], ['']])
      await expect(store.limit(shop.key.id, accepts)).rejects.toThrow(TypeError);
    const bot = await store.create(BOT);
    await expect(store.limit(bot.key.id, ['*'])).rejects.toThrow('only a key with the scope settle');
  });

  it('creates many keys at once', async () => {
    const created = await Promise.all(Array.from({ length: 200 }, () => store.create(BOT)));
    expect((await store.list()).keys).toHaveLength(200);
    const last = created.at(-1)!;
    expect(await store.authenticate(last.token)).toEqual(last.key);
  });

  it('authenticates no token by an unreadable entry, and reports it', async () => {
    const [good, bad] = [await store.create(BOT), await store.create(BOT)];
    const text = JSON.parse((await redis.hget(KEYS, bad.key.id))!) as Record<string, unknown>;
    const damaged = [
      '',
      'null',
      '[]',
      '{}',
      '{"id":',
      ...[
        { scopes: ['root'] },
        { scopes: 'submit' },
        { wallets: [1] },
        { accepts: '*' },
        { accepts: undefined },
        { tokenHash: null },
        { id: good.key.id },
      ].map((change) => JSON.stringify({ ...text, ...change })),
    ];
    for (const entry of damaged) {
      await redis.hset(KEYS, bad.key.id, entry);
      expect(await store.authenticate(bad.token)).toBeNull();
      expect(await store.read(bad.key.id)).toBeNull();
      expect(await store.list()).toEqual({ keys: [good.key], unreadable: [bad.key.id] });
      expect(await store.revoke(bad.key.id)).toBe(true);
    }
  });

  it.each([
    { name: '' },
    { name: 'x'.repeat(65) },
    { name: 'a\nb' },
    { scopes: [] },
    { scopes: ['root'] as never },
    { wallets: [] },
    { wallets: ['two words'] },
  ] satisfies Partial<NewApiKey>[])('creates no key with %j', async (change) => {
    await expect(store.create({ ...BOT, ...change })).rejects.toThrow(TypeError);
    expect((await store.list()).keys).toEqual([]);
  });
});

describe('mayUseWallet', () => {
  it('checks a wallet by name, or allows all', async () => {
    const { key } = await store.create({ ...BOT, wallets: ['main', 'spare'] });
    const all = await store.create({ ...BOT, wallets: ['*'] });
    const names = ['main', 'spare', 'other', '*', 'Main'];
    expect(names.map((name) => mayUseWallet(key, name))).toEqual([true, true, false, false, false]);
    expect(names.map((name) => mayUseWallet(all.key, name))).toEqual([true, true, true, true, true]);
  });
});
