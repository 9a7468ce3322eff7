import { PaymentError } from '@tollgate/protocol';

import { findNodeModule } from './find-node-module.js';
import { parseStoredPayment } from './parse-stored-payment.js';
import type { PaymentState, PaymentStore, StoredPayment, StoredRevision } from './payment-store.js';

/** Of these payments nothing can be redeemed or moved any more. */
const CLOSED: readonly PaymentState[] = ['intended', 'redeemed', 'failed', 'replaced', 'abandoned'];
/** How long a closed payment is kept, so that a repeated Idempotency-Key finds it. */
const KEEP_CLOSED_MS = 7 * 24 * 3_600_000;
const PRUNE_EVERY_MS = 3_600_000;

const FILE_NAME = /^([0-9a-f]{64})\.([0-9]{1,9})\.json$/;

/**
 * A directory with the last two revisions of each payment, `<key>.<revision>.json`, readable by their owner only. A
 * revision is written to a temporary file, flushed, and hard-linked to its name. The link fails if the name exists,
 * which makes the write a compare-and-set. What was closed a week ago is removed.
 */
export class FilePaymentStore implements PaymentStore {
  readonly #directory: string;
  readonly #fs: typeof import('node:fs/promises');
  #prunedAtMs = -Infinity;

  /** @throws PaymentError `invalid_options` */
  constructor(directory: string) {
    if (typeof directory !== 'string' || directory === '') {
      throw new PaymentError('invalid_options', 'FilePaymentStore needs a directory.');
    }
    const fs = findNodeModule<typeof import('node:fs/promises')>('node:fs/promises');
    if (!fs) throw new PaymentError('invalid_options', 'FilePaymentStore needs Node, from 20.16 on.');
    this.#directory = directory;
    this.#fs = fs;
  }

  async read(key: string): Promise<StoredRevision | null> {
    // A writer may remove the file between listing and reading; then there is a newer one.
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const revision = Math.max(0, ...(await this.#revisionsOf(key)));
      if (revision === 0) return null;
      const text = await this.#readIfPresent(this.#path(key, revision));
      if (text !== null) return { payment: this.#parse(text, this.#path(key, revision)), revision };
    }
    throw new PaymentError('store_busy', `The stored payment ${key} changes faster than it can be read.`);
  }

  async write(key: string, payment: StoredPayment, afterRevision: number): Promise<boolean> {
    try {
      await this.#pruneAtTimes();
      return await this.#compareAndSet(key, JSON.stringify(payment), afterRevision);
    } catch (error) {
      if (!isFileError(error)) throw error;
      const { code } = error;
      throw new PaymentError('store_unavailable', `Payments cannot be kept in ${this.#directory} (${code}).`, {
        hint: 'Let this process write there, set TOLLGATE_STATE_DIR, or give `store`.',
        details: { directory: this.#directory, code },
        cause: error,
      });
    }
  }

  async list(): Promise<({ key: string } & StoredRevision)[]> {
    const keys = new Set((await this.#fileNames()).map(({ key }) => key));
    const entries = await Promise.all([...keys].map(async (key) => ({ key, stored: await this.read(key) })));
    return entries.flatMap(({ key, stored }) => (stored ? [{ key, ...stored }] : []));
  }

  async #compareAndSet(key: string, text: string, afterRevision: number): Promise<boolean> {
    await this.#fs.mkdir(this.#directory, { recursive: true, mode: 0o700 });
    if (Math.max(0, ...(await this.#revisionsOf(key))) !== afterRevision) return false;
    const before = await this.#identify(key, afterRevision);
    const draft = `${this.#directory}/.${crypto.randomUUID()}.tmp`;
    const path = this.#path(key, afterRevision + 1);
    try {
      await this.#writeFlushed(draft, text);
      await this.#fs.link(draft, path);
    } catch (error) {
      if (isFileError(error) && error.code === 'EEXIST') return false;
      throw error;
    } finally {
      await this.#fs.rm(draft, { force: true });
    }
    // Other writers may meanwhile have added several revisions and removed the one whose name was linked again here.
    if (Math.max(...(await this.#revisionsOf(key))) !== afterRevision + 1) return false;
    // The revision before may have been removed as closed long ago, and another writer may have begun anew.
    if ((await this.#identify(key, afterRevision)) !== before) {
      await this.#fs.rm(path);
      return false;
    }
    await this.#flushDirectory();
    if (afterRevision > 1) await this.#fs.rm(this.#path(key, afterRevision - 1), { force: true });
    return true;
  }

  /** Tells a revision's file from a later one of its name; empty where there is none. */
  async #identify(key: string, revision: number): Promise<string> {
    try {
      const { ino, mtimeNs } = await this.#fs.stat(this.#path(key, revision), { bigint: true });
      return `${ino} ${mtimeNs}`;
    } catch (error) {
      if (isFileError(error) && error.code === 'ENOENT') return '';
      throw error;
    }
  }

  async #pruneAtTimes(): Promise<void> {
    const nowMs = Date.now();
    if (Math.abs(nowMs - this.#prunedAtMs) < PRUNE_EVERY_MS) return;
    this.#prunedAtMs = nowMs;
    const revisions = new Map<string, number[]>();
    for (const { key, revision } of await this.#fileNames())
      revisions.set(key, [...(revisions.get(key) ?? []), revision]);
    for (const [key, found] of revisions) {
      if (!(await this.#isClosedSince(this.#path(key, Math.max(...found)), nowMs - KEEP_CLOSED_MS))) continue;
      // The newest one goes last: without it, the one before would be taken for the payment's state.
      for (const revision of found.sort((one, other) => one - other))
        await this.#fs.rm(this.#path(key, revision), { force: true });
    }
  }

  /** A damaged file stays: it may stand for money. */
  async #isClosedSince(path: string, sinceMs: number): Promise<boolean> {
    try {
      if ((await this.#fs.stat(path)).mtimeMs > sinceMs) return false;
      return CLOSED.includes(this.#parse(await this.#fs.readFile(path, 'utf8'), path).state);
    } catch {
      return false;
    }
  }

  #path(key: string, revision: number): string {
    return `${this.#directory}/${key}.${revision}.json`;
  }

  async #fileNames(): Promise<{ key: string; revision: number }[]> {
    let names: string[];
    try {
      names = await this.#fs.readdir(this.#directory);
    } catch (error) {
      if (isFileError(error) && error.code === 'ENOENT') return [];
      throw error;
    }
    return names.flatMap((name) => {
      const [, key, revision] = FILE_NAME.exec(name) ?? [];
      return key === undefined || revision === undefined ? [] : [{ key, revision: Number(revision) }];
    });
  }

  async #revisionsOf(key: string): Promise<number[]> {
    return (await this.#fileNames()).filter((file) => file.key === key).map(({ revision }) => revision);
  }

  async #readIfPresent(path: string): Promise<string | null> {
    try {
      return await this.#fs.readFile(path, 'utf8');
    } catch (error) {
      if (isFileError(error) && error.code === 'ENOENT') return null;
      throw error;
    }
  }

  #parse(text: string, path: string): StoredPayment {
    try {
      return parseStoredPayment(JSON.parse(text));
    } catch (cause) {
      throw new PaymentError('store_damaged', `The stored payment ${path} cannot be read.`, {
        hint: 'It may stand for money already sent. Check it before you move it away.',
        details: { path },
        cause,
      });
    }
  }

  async #writeFlushed(path: string, text: string): Promise<void> {
    const file = await this.#fs.open(path, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  // The directory entry must survive a power failure too, not only the content. Windows cannot open directories.
  async #flushDirectory(): Promise<void> {
    if (process.platform === 'win32') return;
    const directory = await this.#fs.open(this.#directory, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }
}

const isFileError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'syscall' in error && 'code' in error;
