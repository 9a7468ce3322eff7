import { hash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { claimBook, type BookPlace } from '../src/database/claim-book.js';
import type { ClaimedDatabase } from '../src/database/database.js';

/** An empty book of one spec, with its tables. */
export interface TestBook {
  place: BookPlace;
  schema: string;
  claim: () => Promise<ClaimedDatabase>;
  remove: () => Promise<void>;
}

const root = join(__dirname, '../../..');

/** On the server at TEST_DATABASE_URL, as `npm run test:postgres` sets it; without one in a folder. */
export async function createTestBook(): Promise<TestBook> {
  const url = process.env['TEST_DATABASE_URL'];
  const schema = `book_${randomBytes(6).toString('hex')}`;
  if (url !== undefined) return createOnServer(url, schema);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-book-'));
  // To create a cluster takes ten seconds, to copy one no time.
  cpSync(await findTemplate(), folder, { recursive: true });
  return {
    place: { folder },
    schema,
    claim: () => claimBook({ folder }, schema),
    remove: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  };
}

function createOnServer(url: string, schema: string): TestBook {
  const claim = () => claimBook({ url }, schema);
  const remove = async () => {
    const database = await claim();
    await database.execute(`DROP SCHEMA ${schema} CASCADE`);
    await database.close();
  };
  return { place: { url }, schema, claim, remove };
}

/** An empty cluster without tables, made once for each version of PGlite. */
async function findTemplate(): Promise<string> {
  const version = readFileSync(join(root, 'node_modules/@electric-sql/pglite/package.json'), 'utf8');
  const template = join(root, '.tollgate', `book-template-${hash('sha256', version, 'hex').slice(0, 12)}`);
  if (existsSync(template)) return template;
  mkdirSync(join(root, '.tollgate'), { recursive: true });
  const made = mkdtempSync(`${template}-`);
  await (await claimBook({ folder: made }, 'template_only')).close();
  try {
    renameSync(made, template);
  } catch {
    // Another worker was faster.
    rmSync(made, { recursive: true });
  }
  return template;
}
