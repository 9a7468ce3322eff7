import { MemoryStore } from './payment-store.js';

const HOUR_MS = 3_600_000;

describe('a store in memory', () => {
  const read = async (store: MemoryStore, name: string) => (await store.read(name)).value;

  it('replaces the expected value, and confirms it to a repeat', async () => {
    const store = new MemoryStore();
    expect(await store.replace('a', null, '1', HOUR_MS)).toBe(true);
    expect(await store.replace('a', null, '1', HOUR_MS)).toBe(true);
    expect(await store.replace('a', null, '2', HOUR_MS)).toBe(false);
    expect(await store.replace('a', '2', '3', HOUR_MS)).toBe(false);
    expect(await read(store, 'a')).toBe('1');
    expect(await store.replace('a', '1', null, 0)).toBe(true);
    expect(await read(store, 'a')).toBeNull();
  });

  it('deletes expired values', async () => {
    const store = new MemoryStore();
    await store.replace('a', null, '1', 0);
    expect(await read(store, 'a')).toBeNull();
    expect(await store.replace('a', null, '2', HOUR_MS)).toBe(true);
  });

  it('evicts the least recently written values', async () => {
    const store = new MemoryStore({ maxEntries: 2, maxCharacters: 10 });
    for (const name of ['a', 'b']) await store.replace(name, null, '1', HOUR_MS);
    await store.replace('a', '1', '22', HOUR_MS);
    await store.replace('c', null, '1', HOUR_MS);
    expect([await read(store, 'a'), await read(store, 'b'), await read(store, 'c')]).toEqual(['22', null, '1']);
    await store.replace('c', '1', '123456789', HOUR_MS);
    expect([await read(store, 'a'), await read(store, 'c')]).toEqual([null, '123456789']);
    await store.replace('d', null, 'more than it may take', HOUR_MS);
    expect([await read(store, 'c'), await read(store, 'd')]).toEqual([null, null]);
  });
});
