import { randomBytes, timingSafeEqual } from 'node:crypto';

import type { RedisClient } from '@tollgate/redis';
import { z } from 'zod';

import { API_KEY_SCOPES, hashToken, needsNoWallet, type ApiKey, type ApiKeyScope } from './api-key.js';

const KEYS = 'tollgate:{api-keys}';
// Separate from the keys: so no change of a key undoes its revocation.
const REVOKED = 'tollgate:{api-keys}:revoked';
const TOKEN = /^tgk_([a-z0-9]{12})_([\w-]{43})$/;
const SCOPES: readonly string[] = API_KEY_SCOPES;

const storedKey = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(API_KEY_SCOPES)),
  wallets: z.array(z.string()),
  accepts: z.array(z.string()),
  createdAtMs: z.number(),
  /** SHA-256 of the token, whose 256 random bits need no slower hash. */
  tokenHash: z.string(),
});
type StoredKey = z.output<typeof storedKey>;

export interface NewApiKey {
  /** 1 to 64 characters, for display. */
  name: string;
  /** At least one. */
  scopes: readonly ApiKeyScope[];
  /** By name, or `*`; at least one, except for a key whose scopes need none. */
  wallets: readonly string[];
  /** See `ApiKey`. Without it, all that the facilitator takes. */
  accepts?: readonly string[];
}

/**
 * The API keys, in the journal's Redis. They are read at each use, so a revoked key is refused at once. An unreadable
 * entry authenticates no request.
 */
export class ApiKeyStore {
  constructor(private readonly redis: RedisClient) {}

  /**
   * Creates a key. Its token is returned here and stored nowhere.
   * @throws TypeError for an invalid name, scope, wallet or limit
   */
  async create({ name, scopes, wallets, accepts }: NewApiKey): Promise<{ key: ApiKey; token: string }> {
    assertNewKey({ name, scopes, wallets });
    const accepted = accepts ?? (scopes.includes('settle') ? ['*'] : []);
    if (accepts !== undefined) assertLimit(scopes, accepts);
    for (;;) {
      const id = randomBytes(6).toString('hex');
      const token = `tgk_${id}_${randomBytes(32).toString('base64url')}`;
      const lists = { scopes: unique(scopes), wallets: unique(wallets), accepts: unique(accepted) };
      const key = { id, name, ...lists, createdAtMs: Date.now() };
      const stored: StoredKey = { ...key, tokenHash: hashToken(token) };
      // A random id may be taken, however improbable; `hsetnx` never overwrites another key.
      if ((await this.redis.hsetnx(KEYS, id, JSON.stringify(stored))) === 1) {
        return { key: { ...key, revokedAtMs: null }, token };
      }
    }
  }

  /** The key of a token; null when it is unknown or revoked. */
  async authenticate(token: string): Promise<ApiKey | null> {
    const id = TOKEN.exec(token)?.[1];
    if (id === undefined) return null;
    const [stored, revokedAtMs] = await this.#read(id);
    const isIt = stored !== null && isEqual(stored.tokenHash, hashToken(token));
    return isIt && revokedAtMs === null ? toApiKey(stored, null) : null;
  }

  /** The key with this id, revoked or not; null when there is none or it is unreadable. */
  async read(id: string): Promise<ApiKey | null> {
    const [stored, revokedAtMs] = await this.#read(id);
    return stored && toApiKey(stored, revokedAtMs);
  }

  /** `revoked` also where its entry is gone or damaged; `unreadable`: gone or damaged, and not known to be revoked. */
  async readState(id: string): Promise<'valid' | 'revoked' | 'unreadable'> {
    const [stored, revokedAtMs] = await this.#read(id);
    if (revokedAtMs !== null) return 'revoked';
    return stored === null ? 'unreadable' : 'valid';
  }

  /** All keys, revoked ones included, oldest first. `unreadable`: the ids of entries that are damaged or foreign. */
  async list(): Promise<{ keys: ApiKey[]; unreadable: string[] }> {
    const [entries, revoked] = await Promise.all([this.redis.hgetall(KEYS), this.redis.hgetall(REVOKED)]);
    const read = Object.entries(entries).map(([id, text]) => ({ id, stored: parseStored(id, text) }));
    const keys = read.flatMap(({ id, stored }) => (stored ? [toApiKey(stored, parseTime(revoked[id]))] : []));
    return {
      keys: keys.sort((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1)),
      unreadable: read.flatMap(({ id, stored }) => (stored ? [] : [id])).sort(),
    };
  }

  /**
   * Changes what a key accepts, from its next request on; of two changes at once, one holds. Null when there is no such
   * key, or it is unreadable.
   * @throws TypeError for an invalid limit, or a key without the scope `settle`
   */
  async limit(id: string, accepts: readonly string[]): Promise<ApiKey | null> {
    const [stored, revokedAtMs] = await this.#read(id);
    if (stored === null) return null;
    assertLimit(stored.scopes, accepts);
    const changed: StoredKey = { ...stored, accepts: unique(accepts) };
    await this.redis.hset(KEYS, id, JSON.stringify(changed));
    return toApiKey(changed, revokedAtMs);
  }

  /** Revokes a key; false when there is no such key. A key that is already revoked keeps its time. */
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
  if (!/^[^\p{C}]{1,64}$/u.test(name)) throw new TypeError('the name of a key must have 1 to 64 printable characters');
  if (scopes.length === 0 || !scopes.every((scope) => SCOPES.includes(scope))) {
    throw new TypeError(`a key needs one or more of the scopes ${SCOPES.join(', ')}`);
  }
  const needsWallet = !scopes.every(needsNoWallet);
  if (
    (wallets.length === 0 && needsWallet) ||
    !wallets.every((wallet) => wallet === '*' || /^[\w.-]{1,64}$/.test(wallet))
  ) {
    throw new TypeError('a key needs one or more wallets, by name (1 to 64 letters, digits or ._-) or *');
  }
}

function assertLimit(scopes: readonly ApiKeyScope[], accepts: readonly string[]): void {
  if (!scopes.includes('settle')) throw new TypeError('only a key with the scope settle can be limited');
  if (accepts.length === 0 || !accepts.every((name) => name === '*' || /^[\w.:-]{1,64}$/.test(name))) {
    throw new TypeError('a limit is one or more options by name, chains as eip155:<id>, or *');
  }
}

const unique = <T>(list: readonly T[]): T[] => [...new Set(list)];

function isEqual(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** The time of a revocation; 0 when it is unreadable, so that the key still counts as revoked. */
function parseTime(text: string | null | undefined): number | null {
  if (text === null || text === undefined) return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

/** Null when the entry is damaged or foreign. */
function parseStored(entryId: string, text: string): StoredKey | null {
  try {
    const stored = storedKey.parse(JSON.parse(text));
    return stored.id === entryId ? stored : null;
  } catch {
    return null;
  }
}

function toApiKey({ tokenHash: _, ...key }: StoredKey, revokedAtMs: number | null): ApiKey {
  return { ...key, revokedAtMs };
}
