import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { hashBookSchema, namePlace, openWorld, type WorldTerms } from './world.js';

const TERMS: WorldTerms = {
  chainId: 1328,
  chains: 1,
  chain: 'c1',
  book: 'b1',
  redis: null,
  redisServer: 'Redis 8.0',
  database: null,
};
const AT = new Date('2026-11-28T09:30:05.123Z');

describe('the world of npm run dev', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-world-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const open = (terms: Partial<WorldTerms> = {}, options: { isFresh?: boolean; at?: Date } = {}) =>
    openWorld(folder, { ...TERMS, ...terms }, { at: AT, ...options });

  /** With a file in it that shows which world it is. */
  function begin({ isKept }: { isKept: boolean }): void {
    const world = open();
    writeFileSync(join(world.path, 'mark'), 'first');
    if (isKept) world.keep(null);
  }

  const isFirst = (path: string) => existsSync(join(path, 'mark'));
  const oldWorlds = () => (existsSync(join(folder, 'old-worlds')) ? readdirSync(join(folder, 'old-worlds')) : []);

  it('is new in an empty folder, about which there is nothing to say', () => {
    expect(open()).toMatchObject({ saved: undefined, note: null });
  });

  it('goes on after an orderly stop, once', () => {
    begin({ isKept: true });
    const again = open();
    expect(isFirst(again.path)).toBe(true);
    expect(again.saved).toEqual({ file: join(again.path, 'chain.json'), contracts: null });
    expect(again.note).toContain('npm run dev -- --fresh');
    expect(oldWorlds()).toEqual([]);
    // This run has not stopped in order yet.
    expect(open().note).toContain('the last run did not stop in order');
  });

  it('is moved aside after any other end, into a folder with the time in its name', () => {
    begin({ isKept: false });
    const world = open();
    const moved = join(folder, 'old-worlds', '2026-11-28T09-30-05-123Z');
    expect(world.note).toBe(`A new world: the last run did not stop in order. The previous one is in ${moved}.`);
    expect([isFirst(world.path), isFirst(moved), world.saved]).toEqual([false, true, undefined]);
  });

  it('goes on after starts that failed, if they ended in order, unless it is a new one', () => {
    open().keepAgain();
    expect(open().note).toContain('the last run did not stop in order');
    begin({ isKept: true });
    for (let start = 1; start <= 2; start++) open().keepAgain();
    expect(isFirst(open().path)).toBe(true);
  });

  it.each<[Partial<WorldTerms>, string]>([
    [{ book: 'b2' }, 'its book has another schema'],
    [{ chain: 'c2' }, "the devnet's contracts or chain have changed"],
    [{ chainId: 1 }, 'it has another CHAIN_ID'],
    [{ chains: 2 }, 'it has another number of chains'],
    [{ redis: 'localhost:6379/1' }, 'it belongs to another REDIS_URL'],
    [{ redisServer: 'Valkey 8.1' }, 'its Redis is of another server or version'],
    [{ database: 'localhost/book' }, 'it belongs to another BOOK_DATABASE_URL'],
  ])('is moved aside where it was kept on other terms: %j', (changed, reason) => {
    begin({ isKept: true });
    const world = open(changed);
    expect(world.note).toContain(`A new world: ${reason}. `);
    expect([isFirst(world.path), oldWorlds()]).toEqual([false, ['2026-11-28T09-30-05-123Z']]);
  });

  it("says that the developer's own Redis and database stay as they are", () => {
    begin({ isKept: false });
    const own = { redis: 'localhost:6379/1', database: 'localhost/book' };
    const stays = /What is in REDIS_URL and BOOK_DATABASE_URL stays as it is\.$/;
    expect(open(own).note).toMatch(stays);
    expect(open(own, { isFresh: true }).note).toMatch(stays);
  });

  it('keeps the last three that were moved aside', () => {
    for (let second = 1; second <= 5; second++) open({}, { at: new Date(second * 1000) });
    expect(oldWorlds()).toEqual([3, 4, 5].map((second) => `1970-01-01T00-00-0${second}-000Z`));
  });

  it('stays where those that were moved aside later have never started', () => {
    open().markStarted();
    for (let second = 1; second <= 5; second++) open({}, { at: new Date(second * 1000) });
    expect(oldWorlds()).toEqual([1, 3, 4, 5].map((second) => `1970-01-01T00-00-0${second}-000Z`));
  });

  it.each([true, false])('is thrown away where that is asked for, kept or not (%s)', (isKept) => {
    begin({ isKept });
    const world = open({}, { isFresh: true });
    expect(world.note).toBe('The previous world was deleted.');
    expect([isFirst(world.path), world.saved, oldWorlds()]).toEqual([false, undefined, []]);
  });

  it('notes no password', () => {
    expect(namePlace('redis://me:secret@localhost:6379/1')).toBe('localhost:6379/1');
    const world = open({ redis: namePlace('redis://me:secret@localhost:6379/1') });
    world.keep(null);
    expect(readFileSync(join(world.path, 'kept.json'), 'utf8')).not.toContain('secret');
  });

  it('has another book with each change of a migration, and each further one', () => {
    const hash = (name: string, sql: string) => {
      writeFileSync(join(folder, name), sql);
      return hashBookSchema(folder);
    };
    const hashes = [hash('1.sql', 'a'), hash('1.sql', 'b'), hash('2.sql', 'c')];
    expect(new Set(hashes).size).toBe(3);
    expect(hash('2.sql', 'c')).toBe(hashes[2]);
  });
});
