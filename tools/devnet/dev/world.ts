import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { SavedChain } from '../chain/chain.js';

/** What a world is made with. One that was made with something else is not gone on with. */
export interface WorldTerms {
  readonly chainId: number;
  /** How many chains there are. */
  readonly chains: number;
  /** A hash of what decides a new chain. */
  readonly chain: string;
  /** A hash of the tables of the book. */
  readonly book: string;
  /** Where the developer's own Redis and database are; null: they are in the world's folder. */
  readonly redis: string | null;
  /** Whose files those of Redis in the world's folder are, with the version; null with the developer's own. */
  readonly redisServer: string | null;
  readonly database: string | null;
}

/** The chains, Redis, book and API keys of `npm run dev`, in a folder. */
export interface World {
  readonly path: string;
  /** The chain that goes on; undefined in a new world. */
  readonly saved: SavedChain | undefined;
  /** What has become of the previous world, in one line; null where there was none. */
  readonly note: string | null;
  /** Where `saved` is written to. */
  readonly chainFile: string;
  /** Where the second chain is written to, if there is one. */
  readonly secondChainFile: string;
  /** Notes that everything has started, so that it is not deleted in favour of worlds in which it never has. */
  markStarted(): void;
  /** Notes that everything was stopped in order, so that the next start goes on with it. */
  keep(contracts: SavedChain['contracts']): void;
  /** `keep` after a start that failed. A new world is not gone on with then: its wallets may lack their nonces. */
  keepAgain(): void;
}

interface Kept {
  terms: WorldTerms;
  contracts: SavedChain['contracts'];
}

const WORLD = 'world';
const OLD_WORLDS = 'old-worlds';
/** Of each kind: those that have started, and those that never have. */
const OLD_WORLDS_KEPT = 3;
/** A file in a world that has started. */
const STARTED = 'started';

const REASONS: Readonly<Record<keyof WorldTerms, string>> = {
  chainId: 'it has another CHAIN_ID',
  chains: 'it has another number of chains',
  chain: "the devnet's contracts or chain have changed",
  book: 'its book has another schema',
  redis: 'it belongs to another REDIS_URL',
  redisServer: 'its Redis is of another server or version',
  database: 'it belongs to another BOOK_DATABASE_URL',
};

/** Goes on with the world in this folder if it was kept on the same terms; else moves it aside, and begins a new one. */
export function openWorld(folder: string, terms: WorldTerms, { isFresh = false, at = new Date() } = {}): World {
  const path = join(folder, WORLD);
  const [chainFile, keptFile] = [join(path, 'chain.json'), join(path, 'kept.json')];
  const begin = (saved: SavedChain | undefined, note: string | null): World => {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const keep: World['keep'] = (contracts) =>
      writeWhole(keptFile, JSON.stringify({ terms, contracts } satisfies Kept));
    return {
      path,
      saved,
      note,
      chainFile,
      secondChainFile: join(path, 'chain-2.json'),
      keep,
      markStarted: () => writeFileSync(join(path, STARTED), ''),
      keepAgain: () => {
        if (saved !== undefined) keep(saved.contracts);
      },
    };
  };
  if (!existsSync(path)) return begin(undefined, null);
  if (isFresh) {
    rmSync(path, { recursive: true });
    return begin(undefined, `The previous world was deleted.${describeOwnServers(terms)}`);
  }
  const kept = readKept(keptFile);
  const reason = kept === null ? 'the last run did not stop in order' : findDifference(kept.terms, terms);
  if (kept !== null && reason === null) {
    rmSync(keptFile);
    const note = 'Going on with the world of the last run. To throw it away: npm run dev -- --fresh';
    return begin({ file: chainFile, contracts: kept.contracts }, note);
  }
  const moved = moveAside(folder, path, at);
  return begin(undefined, `A new world: ${reason}. The previous one is in ${moved}.${describeOwnServers(terms)}`);
}

/** The tables of the book, as its migrations make them. */
export function hashBookSchema(migrations: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(migrations).sort())
    hash.update(`${name}\n`).update(readFileSync(join(migrations, name)));
  return hash.digest('hex').slice(0, 16);
}

/** Host, port and database of a URL, without user and password. */
export function namePlace(url: string): string {
  return URL.canParse(url) ? new URL(url).host + new URL(url).pathname : createHash('sha256').update(url).digest('hex');
}

function findDifference(kept: WorldTerms, wanted: WorldTerms): string | null {
  const differing = (Object.keys(REASONS) as (keyof WorldTerms)[]).find((name) => kept[name] !== wanted[name]);
  return differing === undefined ? null : REASONS[differing];
}

function describeOwnServers({ redis, database }: WorldTerms): string {
  const names = [...(redis === null ? [] : ['REDIS_URL']), ...(database === null ? [] : ['BOOK_DATABASE_URL'])];
  return names.length === 0 ? '' : ` What is in ${names.join(' and ')} stays as it is.`;
}

/** Returns where it is now. */
function moveAside(folder: string, path: string, at: Date): string {
  const old = join(folder, OLD_WORLDS);
  mkdirSync(old, { recursive: true, mode: 0o700 });
  const moved = join(old, at.toISOString().replaceAll(/[:.]/g, '-'));
  renameSync(path, moved);
  const names = readdirSync(old).sort();
  const started = names.filter((name) => existsSync(join(old, name, STARTED)));
  const others = names.filter((name) => !started.includes(name));
  for (const name of [started, others].flatMap((kind) => kind.slice(0, -OLD_WORLDS_KEPT)))
    rmSync(join(old, name), { recursive: true });
  return moved;
}

function readKept(file: string): Kept | null {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Kept) : null;
}

function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.draft`, text);
  renameSync(`${file}.draft`, file);
}
