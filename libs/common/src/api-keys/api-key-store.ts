import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

import type { Redis } from 'ioredis';

import { API_KEY_SCOPES, type ApiKey, type ApiKeyScope } from './api-key.js';

const KEYS = 'tollgate:{api-keys}';
const TOKEN = /^tgk_([a-z0-9]{12})_([\w-]{43})$/;
const SCOPES: readonly string[] = API_KEY_SCOPES;

interface StoredKey extends ApiKey {
  /** SHA-256 of the token; its 256 random bits need no slower hash. */
  tokenHash: string;
}

export interface NewApiKey {
  name: string;
  scopes: readonly ApiKeyScope[];
  wallets: readonly string[];
}

/** The API keys, in the journal's Redis. Read at each use, so that a revoked key is refused at once. */
export class ApiKeyStore {
  constructor(private readonly redis: Redis) {}

  /** The token is in the answer and nowhere else. */
  async create({ name, scopes, wallets }: NewApiKey): Promise<{ key: ApiKey; token: string }> {
    const id = randomBytes(6).toString('hex');
    const token = `tgk_${id}_${randomBytes(32).toString('base64url')}`;
    const key: ApiKey = { id, name, scopes, wallets, createdAtMs: Date.now(), revokedAtMs: null };
    await this.redis.hset(KEYS, id, JSON.stringify({ ...key, tokenHash: hashToken(token) } satisfies StoredKey));
    return { key, token };
  }

  /** The key of a token; null for one that is unknown or revoked. */
  async authenticate(token: string): Promise<ApiKey | null> {
    const id = TOKEN.exec(token)?.[1];
    if (id === undefined) return null;
    const stored = await this.#read(id);
    const isIt = stored !== null && isEqual(stored.tokenHash, hashToken(token));
    return isIt && stored.revokedAtMs === null ? toApiKey(stored) : null;
  }

  /** Revoked ones too. */
  async read(id: string): Promise<ApiKey | null> {
    const stored = await this.#read(id);
    return stored && toApiKey(stored);
  }

  /** Oldest first, revoked ones too. */
  async list(): Promise<ApiKey[]> {
    const stored = await this.redis.hvals(KEYS);
    return stored
      .map((text) => toApiKey(parseStored(text)))
      .sort((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1));
  }

  /** Null when there is no such key; a key that is revoked already stays as it is. */
  async revoke(id: string): Promise<ApiKey | null> {
    const stored = await this.#read(id);
    if (!stored) return null;
    const revoked: StoredKey = { ...stored, revokedAtMs: stored.revokedAtMs ?? Date.now() };
    await this.redis.hset(KEYS, id, JSON.stringify(revoked));
    return toApiKey(revoked);
  }

  async #read(id: string): Promise<StoredKey | null> {
    const text = await this.redis.hget(KEYS, id);
    return text === null ? null : parseStored(text);
  }
}

function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}

function isEqual(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** @throws TypeError for what is none of ours: a key that cannot be read must not be let in. */
function parseStored(text: string): StoredKey {
  const value = JSON.parse(text) as Partial<Record<keyof StoredKey, unknown>>;
  const { id, name, scopes, wallets, createdAtMs, revokedAtMs, tokenHash } = value;
  const isText = (one: unknown): one is string => typeof one === 'string';
  if (
    !isText(id) ||
    !isText(name) ||
    !isText(tokenHash) ||
    typeof createdAtMs !== 'number' ||
    !(revokedAtMs === null || typeof revokedAtMs === 'number') ||
    !Array.isArray(scopes) ||
    !scopes.every((scope): scope is ApiKeyScope => isText(scope) && SCOPES.includes(scope)) ||
    !Array.isArray(wallets) ||
    !wallets.every(isText)
  ) {
    throw new TypeError('An API key in Redis cannot be read.');
  }
  return { id, name, scopes, wallets, createdAtMs, revokedAtMs, tokenHash };
}

function toApiKey({ tokenHash: _, ...key }: StoredKey): ApiKey {
  return key;
}
