import { Inject, Injectable } from '@nestjs/common';
import { ApiKeyStore, KeyAdmission, RateLimit, type ApiKey, type ApiKeyScope, type Problem } from '@tollgate/http';
import { withTimeout } from '@tollgate/redis';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookkeeperConnections } from '../drain/connections.js';

const KEYS_WITHIN_MS = 3_000;
const UNAVAILABLE: Problem = { status: 503, code: 'service_unavailable', detail: 'The API keys cannot be read now.' };
const REVOKED: Problem = { status: 401, code: 'api_key_refused', detail: 'The API key of this session was revoked.' };

type Judged = { key: ApiKey } | { problem: Problem };

/** The API keys of operators: which are known, not revoked, within their rate, and have a scope. */
@Injectable()
export class OperatorKeys {
  readonly #store: ApiKeyStore;
  readonly #admission: KeyAdmission;
  readonly #rateLimit: RateLimit;

  constructor(
    @Inject(BookkeeperConnections) { commands }: BookkeeperConnections,
    @Inject(BookkeeperEnvironment) { server }: BookkeeperEnvironment,
  ) {
    this.#store = new ApiKeyStore(commands);
    const keys = { authenticate: (token: string) => withTimeout(this.#store.authenticate(token), KEYS_WITHIN_MS) };
    this.#rateLimit = new RateLimit(server.operatorRateLimitPerMinute);
    this.#admission = new KeyAdmission(keys, {
      refusedKeysPerMinute: server.operatorRefusedKeysPerMinute,
      unavailable: UNAVAILABLE,
    });
  }

  /** The key that a request presents in its `Authorization` header, or the problem to answer with. */
  identify(
    presented: { address: string; authorization: string | undefined },
    scopes: readonly ApiKeyScope[],
  ): Promise<Judged> {
    return this.#admission.identify(presented, { scopes, takesBasic: false, rateLimit: this.#rateLimit });
  }

  /** The key with this id, as it is now, or the problem to answer with: 401 once it is revoked. */
  async admit(keyId: string, scopes: readonly ApiKeyScope[]): Promise<Judged> {
    const found = await this.#read(keyId);
    return 'problem' in found ? found : this.#admission.admit(found.key, { scopes, rateLimit: this.#rateLimit });
  }

  /** Whether it is known to be revoked; false also while the keys cannot be read. */
  async isRevoked(keyId: string): Promise<boolean> {
    const found = await this.#read(keyId);
    return 'problem' in found && found.problem === REVOKED;
  }

  async #read(keyId: string): Promise<Judged> {
    const key = await withTimeout(this.#store.read(keyId), KEYS_WITHIN_MS).catch(() => 'unknown' as const);
    if (key === 'unknown') return { problem: UNAVAILABLE };
    return key === null || key.revokedAtMs !== null ? { problem: REVOKED } : { key };
  }
}
