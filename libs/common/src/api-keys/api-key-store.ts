import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

import type { Redis } from 'ioredis';

import { API_KEY_SCOPES, type ApiKey, type ApiKeyScope } from './api-key.js';

const KEYS = 'tollgate:{api-keys}';
// Apart from what is never written again, so that two who revoke, or one who creates, cannot undo one another.
const REVOKED = 'tollgate:{api-keys}:revoked';
const TOKEN = /^tgk_([a-z0-9]{12})_([\w-]{43})$/;
const SCOPES: readonly string[] = API_KEY_SCOPES;

type StoredKey = Omit<ApiKey, 'revokedAtMs'> & {
  /** SHA-256 of the token; its 256 random bits need no slower hash. */
  tokenHash: string;
};

export interface NewApiKey {
  /** 1 to 64 characters, for people. */
  name: string;
  /** At least one. */
  scopes: readonly ApiKeyScope[];
  /** By name, or `*`; at least one, but for a key that only settles. */
  wallets: readonly string[];
}

/**
 * The API keys, in the journal's Redis. Read at each use, so that a revoked key is refused at once. An entry that cannot
 * be read is no key: nobody gets in by it.
 */
export class ApiKeyStore {
  constructor(private readonly redis: Redis) {}

  /**
   * The token is in the answer and nowhere else.
   * @throws TypeError for a name, scopes or wallets that no key can have
   */
  async create({ name, scopes, wallets }: NewApiKey): Promise<{ key: ApiKey; token: string }> {
    assertNewKey({ name, scopes, wallets });
    for (;;) {
      const id = randomBytes(6).toString('hex');
      const token = `tgk_${id}_${randomBytes(32).toString('base64url')}`;
      const key = { id, name, scopes: [...new Set(scopes)], wallets: [...new Set(wallets)], createdAtMs: Date.now() };
      const stored: StoredKey = { ...key, tokenHash: hashToken(token) };
      // An id that is taken, though improbable, would otherwise be another key's end.
      if ((await this.redis.hsetnx(KEYS, id, JSON.stringify(stored))) === 1) {
        return { key: { ...key, revokedAtMs: null }, token };
      }
    }
  }

  /** The key of a token; null for one that is unknown or revoked. */
  async authenticate(token: string): Promise<ApiKey | null> {
    const id = TOKEN.exec(token)?.[1];
    if (id === undefined) return null;
    const [stored, revokedAtMs] = await this.#read(id);
    const isIt = stored !== null && isEqual(stored.tokenHash, hashToken(token));
    return isIt && revokedAtMs === null ? toApiKey(stored, null) : null;
  }

  /** Revoked ones too; null where there is none that can be read. */
  async read(id: string): Promise<ApiKey | null> {
    const [stored, revokedAtMs] = await this.#read(id);
    return stored && toApiKey(stored, revokedAtMs);
  }

  /** Oldest first, revoked ones too. `unreadable`: the ids of entries that are none of ours, or damaged. */
  async list(): Promise<{ keys: ApiKey[]; unreadable: string[] }> {
    const [entries, revoked] = await Promise.all([this.redis.hgetall(KEYS), this.redis.hgetall(REVOKED)]);
    const read = Object.entries(entries).map(([id, text]) => ({ id, stored: parseStored(id, text) }));
    const keys = read.flatMap(({ id, stored }) => (stored ? [toApiKey(stored, parseTime(revoked[id]))] : []));
    return {
      keys: keys.sort((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1)),
      unreadable: read.flatMap(({ id, stored }) => (stored ? [] : [id])).sort(),
    };
  }

  /** False when there is no such entry; one that is revoked already stays as it is. */
  async revoke(id: string): Promise<boolean> {
    if ((await this.redis.hexists(KEYS, id)) === 0) return false;
    await this.redis.hsetnx(REVOKED, id, Date.now());
    return true;
  }

  async #read(id: string): Promise<[stored: StoredKey | null, revokedAtMs: number | null]> {
    const [text, revoked] = await Promise.all([this.redis.hget(KEYS, id), this.redis.hget(REVOKED, id)]);
    return [text === null ? null : parseStored(id, text), parseTime(revoked)];
  }
}

function assertNewKey({ name, scopes, wallets }: NewApiKey): void {
  if (!/^[^\p{C}]{1,64}$/u.test(name)) throw new TypeError('a key has a name of 1 to 64 printable characters');
  if (scopes.length === 0 || !scopes.every(isScope)) {
    throw new TypeError(`a key has one or more of the scopes ${SCOPES.join(', ')}`);
  }
  const needsWallet = scopes.some((scope) => scope !== 'settle');
  if (
    (wallets.length === 0 && needsWallet) ||
    !wallets.every((wallet) => wallet === '*' || /^[\w.-]{1,64}$/.test(wallet))
  ) {
    throw new TypeError('a key has one or more wallets, by name: 1 to 64 letters, digits or ._-; or *');
  }
}

function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}

function isEqual(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** A key that somebody revoked at a time that cannot be read is revoked. */
function parseTime(text: string | null | undefined): number | null {
  if (text === null || text === undefined) return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

/** Null for what is none of ours. */
function parseStored(entryId: string, text: string): StoredKey | null {
  const { id, name, scopes, wallets, createdAtMs, tokenHash } = parseObject(text);
  const isKey =
    id === entryId &&
    isText(name) &&
    isText(tokenHash) &&
    typeof createdAtMs === 'number' &&
    Array.isArray(scopes) &&
    scopes.every(isScope) &&
    Array.isArray(wallets) &&
    wallets.every(isText);
  return isKey ? { id: entryId, name, scopes, wallets, createdAtMs, tokenHash } : null;
}

function parseObject(text: string): Partial<Record<keyof StoredKey, unknown>> {
  try {
    return Object(JSON.parse(text)) as Partial<Record<keyof StoredKey, unknown>>;
  } catch {
    return {};
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isScope(value: unknown): value is ApiKeyScope {
  return isText(value) && SCOPES.includes(value);
}

function toApiKey({ tokenHash: _, ...key }: StoredKey, revokedAtMs: number | null): ApiKey {
  return { ...key, revokedAtMs };
}
