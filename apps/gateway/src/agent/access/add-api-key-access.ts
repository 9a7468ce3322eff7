import type { FastifyInstance, RouteOptions } from 'fastify';

import type { ApiKeyAccess } from './api-key-access.js';
import { ApiKeyAdmission } from './for-api-keys.js';

/** Far larger than any job or payment, and small enough that a client with a key cannot fill the memory. */
export const MAX_BODY_BYTES = 64 * 1024;

/**
 * Makes the access check available to the routes for API keys. Must be called before the first such route is
 * registered.
 */
export function addApiKeyAccess(server: FastifyInstance, access: ApiKeyAccess): void {
  server.decorate('apiKeyAccess', access);
  server.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.access instanceof ApiKeyAdmission) route.bodyLimit = MAX_BODY_BYTES;
  });
}
