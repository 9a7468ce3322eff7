import { ApiKeyStore } from '@tollgate/common';

import { withRedis } from '../processes/with-redis.js';

/** An API key for everything in the operator API. Returns its token. */
export async function createOperatorKey(redisUrl: string): Promise<string> {
  const scopes = ['operator:read', 'operator:refund', 'operator:approve', 'operator:wallets'] as const;
  const { token } = await withRedis(redisUrl, (redis) =>
    new ApiKeyStore(redis).create({ name: 'dev-operator', scopes, wallets: [] }),
  );
  return token;
}
