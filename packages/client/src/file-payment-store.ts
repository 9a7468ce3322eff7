import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import {
  isAddress,
  isHash,
  isHexBytes,
  isRecord,
  parsePaymentRequirement,
  parseSignedPayment,
  PaymentError,
} from '@tollgate/protocol';

import { parseStoredSignable } from './offer/signable-requirement.js';
import type {
  PaymentState,
  PaymentStore,
  SignedTransaction,
  StoredPayment,
  StoredRevision,
} from './store/payment-store.js';

const FILE_NAME = /^([0-9a-f]{64})\.([0-9]{1,9})\.json$/;

/**
 * A directory with the last two revisions of each payment, `<key>.<revision>.json`, readable by their owner only. A
 * revision is written to a temporary file, flushed, and hard-linked to its name. The link fails if the name exists,
 * which makes the write a compare-and-set.
 */
export class FilePaymentStore implements PaymentStore {
  readonly #directory: string;

  /** @throws PaymentError `invalid_options` */
  constructor(directory: string) {
    if (typeof directory !== 'string' || directory === '') {
      throw new PaymentError('invalid_options', 'FilePaymentStore needs a directory.');
    }
    this.#directory = directory;
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
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    if (Math.max(0, ...(await this.#revisionsOf(key))) !== afterRevision) return false;
    const draft = join(this.#directory, `.${randomUUID()}.tmp`);
    try {
      await this.#writeFlushed(draft, JSON.stringify(payment));
      await link(draft, this.#path(key, afterRevision + 1));
    } catch (error) {
      if (isFileError(error, 'EEXIST')) return false;
      throw error;
    } finally {
      await rm(draft, { force: true });
    }
    // Other writers may meanwhile have added several revisions and removed the one whose name was linked again here.
    if (Math.max(...(await this.#revisionsOf(key))) !== afterRevision + 1) return false;
    await this.#flushDirectory();
    if (afterRevision > 1) await rm(this.#path(key, afterRevision - 1), { force: true });
    return true;
  }

  async list(): Promise<({ key: string } & StoredRevision)[]> {
    const keys = new Set((await this.#fileNames()).map(({ key }) => key));
    const entries = await Promise.all([...keys].map(async (key) => ({ key, stored: await this.read(key) })));
    return entries.flatMap(({ key, stored }) => (stored ? [{ key, ...stored }] : []));
  }

  #path(key: string, revision: number): string {
    return join(this.#directory, `${key}.${revision}.json`);
  }

  async #fileNames(): Promise<{ key: string; revision: number }[]> {
    let names: string[];
    try {
      names = await readdir(this.#directory);
    } catch (error) {
      if (isFileError(error, 'ENOENT')) return [];
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
      return await readFile(path, 'utf8');
    } catch (error) {
      if (isFileError(error, 'ENOENT')) return null;
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
    const file = await open(path, 'wx', 0o600);
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
    const directory = await open(this.#directory, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }
}

const isFileError = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code;

const STATES: readonly string[] = ['intended', 'signed', 'redeemed', 'failed', 'replaced', 'abandoned'];

const isState = (value: unknown): value is PaymentState => typeof value === 'string' && STATES.includes(value);

function parseTransaction(value: unknown): SignedTransaction | null {
  if (value === null) return null;
  if (!isRecord(value)) throw new TypeError('transaction is not an object');
  const { txHash, rawTransaction, nonce } = value;
  if (!isHash(txHash) || !isHexBytes(rawTransaction) || typeof nonce !== 'number' || !Number.isSafeInteger(nonce)) {
    throw new TypeError('transaction is not a signed transaction');
  }
  return { txHash, rawTransaction, nonce };
}

function parseRequirement(value: unknown): StoredPayment['requirement'] {
  return isRecord(value) && 'x402Version' in value ? parseStoredSignable(value) : parsePaymentRequirement(value);
}

/**
 * Parses a stored payment.
 * @throws TypeError or PaymentError when a field is invalid.
 */
export function parseStoredPayment(value: unknown): StoredPayment {
  if (!isRecord(value)) throw new TypeError('not an object');
  const { state, method, url, idempotencyKey, chainId, payer, createdAtMs, nonceTakenAtMs } = value;
  if (!isState(state)) throw new TypeError('state is unknown');
  if (typeof method !== 'string' || typeof url !== 'string' || typeof idempotencyKey !== 'string') {
    throw new TypeError('method, url or idempotencyKey is not a string');
  }
  if (typeof chainId !== 'number' || typeof createdAtMs !== 'number' || !isAddress(payer)) {
    throw new TypeError('chainId, createdAtMs or payer is not what was written');
  }
  if (nonceTakenAtMs !== null && typeof nonceTakenAtMs !== 'number')
    throw new TypeError('nonceTakenAtMs is not a time');
  const transaction = parseTransaction(value['transaction']);
  const authorization = value['authorization'] === null ? null : parseSignedPayment(value['authorization']);
  if (state === 'signed' && transaction === null && authorization === null) {
    throw new TypeError('a signed payment has no transaction and no authorization');
  }
  const requirement = parseRequirement(value['requirement']);
  return {
    ...{ state, method, url, idempotencyKey, chainId, payer, requirement, createdAtMs },
    ...{ transaction, nonceTakenAtMs, authorization },
  };
}
