import { existsSync, readFileSync, writeFileSync } from 'node:fs';

import { ApiKeyStore, type NewApiKey } from '@tollgate/http';

import { withRedis } from '../processes/with-redis.js';

/** The token in the file if it is a key of this Redis that is not revoked; else that of a new key, which the file then has. */
export function openKey(redisUrl: string, file: string, wanted: NewApiKey): Promise<string> {
  return withRedis(redisUrl, async (redis) => {
    const store = new ApiKeyStore(redis);
    const kept = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if ((await store.authenticate(kept)) !== null) return kept;
    const { token } = await store.create(wanted);
    writeFileSync(file, token, { mode: 0o600 });
    return token;
  });
}
