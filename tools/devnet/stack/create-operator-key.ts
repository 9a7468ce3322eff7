import { ApiKeyStore, type NewApiKey } from '@tollgate/http';

import { withRedis } from '../processes/with-redis.js';

/** An API key for everything in the operator API. */
export const OPERATOR_KEY: NewApiKey = {
  name: 'dev-operator',
  scopes: ['operator:read', 'operator:refund', 'operator:approve', 'operator:wallets'],
  wallets: [],
};

/** Returns the token of a new one. */
export async function createOperatorKey(redisUrl: string): Promise<string> {
  const { token } = await withRedis(redisUrl, (redis) => new ApiKeyStore(redis).create(OPERATOR_KEY));
  return token;
}
