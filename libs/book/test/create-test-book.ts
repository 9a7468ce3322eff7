import { hash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { Client } from 'pg';

import { claimPidFile } from '../../../scripts/process-identity.mjs';
import { waitFor } from '../../../test/harness/retry.js';
import { claimBook, type BookPlace } from '../src/database/claim-book.js';
import type { ClaimedDatabase } from '../src/database/database.js';

/** A book of one spec. */
export interface TestBook {
  place: BookPlace;
  /** The settings of a bookkeeper for it. */
  env: Record<string, string>;
  claim: () => Promise<ClaimedDatabase>;
  /** Another book with what this one has. No process may have this one open. */
  copy: () => Promise<TestBook>;
  remove: () => Promise<void>;
}

const root = join(__dirname, '../../..');
const INSUFFICIENT_PRIVILEGE = '42501';
const MIGRATIONS = 'libs/book/src/migrations';
/** Of this process. */
let found: Promise<string> | undefined;

/**
 * An empty book, in a database of its own on the server at TEST_DATABASE_URL, as `npm run test:postgres` sets it; else in a
 * folder.
 */
export async function createTestBook(): Promise<TestBook> {
  const server = process.env['TEST_DATABASE_URL'];
  return server === undefined ? createTestFolder() : createOnServer(server, 'template1');
}

/** An empty book in a folder, whatever TEST_DATABASE_URL says. */
export async function createTestFolder(): Promise<TestBook> {
  // To create a cluster takes seconds, to copy one no time.
  return copyFolder(await (found ??= findTemplate()));
}

function copyFolder(source: string): TestBook {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-book-'));
  cpSync(source, folder, { recursive: true });
  return {
    place: { folder },
    env: { BOOK_FOLDER: folder },
    claim: () => claimBook({ folder }),
    copy: () => Promise.resolve(copyFolder(folder)),
    remove: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  };
}

async function createOnServer(server: string, template: string): Promise<TestBook> {
  const name = `book_${randomBytes(6).toString('hex')}`;
  await runOn(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    place: { url: url.href },
    env: { BOOK_DATABASE_URL: url.href },
    claim: () => claimBook({ url: url.href }),
    copy: () => createOnServer(server, name),
    remove: () => drop(server, name),
  };
}

/** Ends the sessions of bookkeepers that were killed. The server's own sessions there, which clean up, end by themselves. */
async function drop(server: string, name: string): Promise<void> {
  await waitFor('the database is dropped', () =>
    runOn(server, `DROP DATABASE ${name} WITH (FORCE)`).then(
      () => true,
      (error: { code?: string }) => {
        if (error.code === INSUFFICIENT_PRIVILEGE) return false;
        throw error;
      },
    ),
  );
}

async function runOn(connectionString: string, sql: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A cluster with empty tables, made once for each version of PGlite, of the migrations and of this file. */
async function findTemplate(): Promise<string> {
  const migrations = readdirSync(join(root, MIGRATIONS)).map((file) => join(MIGRATIONS, file));
  const versions = ['node_modules/@electric-sql/pglite/package.json', relative(root, __filename), ...migrations.sort()];
  const version = hash('sha256', versions.map((file) => readFileSync(join(root, file), 'utf8')).join(''), 'hex');
  const template = join(root, '.tollgate', `book-template-${version.slice(0, 12)}`);
  const lock = `${template}.lock`;
  mkdirSync(join(root, '.tollgate'), { recursive: true });
  // Jest's workers begin at the same time, and each would need eight seconds of CPU time.
  await waitFor('the template of a book is made', async () => {
    if (existsSync(template)) return true;
    if (!claimPidFile(lock)) return false;
    try {
      if (!existsSync(template)) await makeTemplate(template);
    } finally {
      rmSync(lock, { force: true });
    }
    return true;
  });
  return template;
}

async function makeTemplate(template: string): Promise<void> {
  const made = mkdtempSync(`${template}-`);
  const data = join(made, 'data');
  // Most of an opening is the clearing of 128 MB for buffers, and most of a copy is a log of 16 MB.
  const cluster = await PGlite.create({ fs: new NodeFS(data), initDbStartParams: ['--wal-segsize=1'] });
  await cluster.close();
  appendFileSync(join(data, 'postgresql.conf'), "shared_buffers = '4MB'\n");
  const database = await claimBook({ folder: made });
  // No book uses these two, and they have more than half of the files that are copied for each book.
  for (const name of ['template0', 'template1']) {
    await database.execute(`UPDATE pg_database SET datistemplate = false WHERE datname = '${name}'`);
    await database.execute(`DROP DATABASE ${name}`);
  }
  await database.close();
  renameSync(made, template);
}
