import type { Problem } from '../problem.js';
import { RateLimit } from '../rate-limit.js';
import { hashToken, type ApiKey, type ApiKeyScope } from './api-key.js';

const TOO_MANY: Problem = { status: 429, code: 'too_many_requests', detail: 'Too many requests with this API key.' };
const TOO_MANY_REFUSED: Problem = {
  status: 429,
  code: 'too_many_requests',
  detail: 'Too many invalid API keys were sent from this address.',
};

/** What a request requires of its API key. */
export interface Demand {
  readonly scopes: readonly ApiKeyScope[];
  readonly takesBasic: boolean;
  readonly rateLimit: RateLimit;
}

/** Where a request comes from, and the credentials it presents. */
export interface PresentedKey {
  readonly address: string;
  readonly authorization: string | undefined;
}

export interface KeyAdmissionOptions {
  /** Invalid keys that one address may try in a minute; 0: any number. */
  readonly refusedKeysPerMinute: number;
  /** The answer when the keys cannot be read. */
  readonly unavailable: Problem;
}

/** Judges the API keys of requests: known, not revoked, within its rate, with one of the scopes. */
export class KeyAdmission {
  readonly #guesses: KeyGuesses;

  /** @param keys rejects when the keys cannot be read, which it reports itself */
  constructor(
    private readonly keys: { authenticate(token: string): Promise<ApiKey | null> },
    private readonly options: KeyAdmissionOptions,
  ) {
    this.#guesses = new KeyGuesses(options.refusedKeysPerMinute);
  }

  /** The key of a request, or the problem to respond with. */
  async identify(
    { address, authorization }: PresentedKey,
    { scopes, takesBasic, rateLimit }: Demand,
  ): Promise<{ key: ApiKey } | { problem: Problem }> {
    const token = readBearerToken(authorization) ?? (takesBasic ? readBasicToken(authorization) : null);
    if (token === null) return { problem: refuseKey(authorization !== undefined, takesBasic) };
    const guessWaitMs = this.#guesses.look(address, token);
    if (guessWaitMs > 0) return { problem: { ...TOO_MANY_REFUSED, retryAfterMs: guessWaitMs } };
    const key = await this.keys.authenticate(token).catch(() => 'unknown' as const);
    if (key === 'unknown') return { problem: this.options.unavailable };
    if (key === null) return { problem: this.#refuseGuess(address, token, takesBasic) };
    this.#guesses.admit(token);
    return this.admit(key, { scopes, rateLimit });
  }

  /** Judges a key that is known already, by its rate and its scopes. */
  admit(
    key: ApiKey,
    { scopes, rateLimit }: Pick<Demand, 'scopes' | 'rateLimit'>,
  ): { key: ApiKey } | { problem: Problem } {
    const waitMs = rateLimit.take(key.id);
    if (waitMs > 0) return { problem: { ...TOO_MANY, retryAfterMs: waitMs } };
    return scopes.some((scope) => key.scopes.includes(scope)) ? { key } : { problem: refuseScope(scopes) };
  }

  #refuseGuess(address: string, token: string, takesBasic: boolean): Problem {
    const waitMs = this.#guesses.refuse(address, token);
    return waitMs > 0 ? { ...TOO_MANY_REFUSED, retryAfterMs: waitMs } : refuseKey(true, takesBasic);
  }
}

function refuseKey(isPresented: boolean, takesBasic: boolean): Problem {
  const bearer = `Bearer realm="tollgate"${isPresented ? ', error="invalid_token"' : ''}`;
  return {
    status: 401,
    code: 'api_key_refused',
    detail: isPresented
      ? 'The API key is unknown or revoked.'
      : 'This request needs an API key: Authorization: Bearer tgk_<id>_<secret>.',
    headers: { 'WWW-Authenticate': takesBasic ? `Basic realm="tollgate", charset="UTF-8", ${bearer}` : bearer },
  };
}

function refuseScope(scopes: readonly string[]): Problem {
  return {
    status: 403,
    code: 'scope_missing',
    detail: `This request needs an API key with the scope ${scopes.join(' or ')}.`,
    headers: { 'WWW-Authenticate': `Bearer realm="tollgate", error="insufficient_scope", scope="${scopes.join(' ')}"` },
  };
}

const BEARER = /^Bearer +([\w-]{1,128})$/i;
const BASIC = /^Basic +([A-Za-z0-9+/]{1,1024}={0,2})$/i;

/** The API key of an `Authorization` header with a bearer token; null where there is none. */
function readBearerToken(header: string | undefined): string | null {
  return BEARER.exec(header ?? '')?.[1] ?? null;
}

/** For pages in a browser: the API key is the password; any user name is accepted. */
function readBasicToken(header: string | undefined): string | null {
  const encoded = BASIC.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString();
  const colonAt = text.indexOf(':');
  return colonAt === -1 ? null : text.slice(colonAt + 1);
}

const MAX_ADMITTED = 10_000;

/**
 * Bounds how many wrong API keys one client address may try. Keys admitted earlier are exempt: a client that shares an
 * address with an attacker, for example behind one proxy, is not locked out.
 */
export class KeyGuesses {
  readonly #refusals: RateLimit;
  /** Hashes of admitted tokens, least recently admitted first. */
  readonly #admitted = new Set<string>();

  constructor(
    refusalsPerMinute: number,
    private readonly maxAdmitted = MAX_ADMITTED,
  ) {
    this.#refusals = new RateLimit(refusalsPerMinute);
  }

  /** Zero if the token may be looked up, otherwise the milliseconds until this address may try again. */
  look(address: string, token: string, nowMs = performance.now()): number {
    const waitMs = this.#refusals.look(address, nowMs);
    return waitMs > 0 && this.#admitted.has(hashToken(token)) ? 0 : waitMs;
  }

  /** Records that a look-up accepted the token. This is not cached as an answer: the next look-up decides again. */
  admit(token: string): void {
    const hashed = hashToken(token);
    this.#admitted.delete(hashed);
    this.#admitted.add(hashed);
    for (const oldest of this.#admitted) {
      if (this.#admitted.size <= this.maxAdmitted) return;
      this.#admitted.delete(oldest);
    }
  }

  /** Records that a look-up refused the token. Zero if the client may be informed of it, otherwise as `look`. */
  refuse(address: string, token: string, nowMs = performance.now()): number {
    this.#admitted.delete(hashToken(token));
    return this.#refusals.take(address, nowMs);
  }
}
