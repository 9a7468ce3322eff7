import type { FastifyInstance, RouteOptions } from 'fastify';

import type { ApiKeyAccess } from './api-key-access.js';
import { ApiKeyAdmission } from './for-api-keys.js';

/** Far above any job or payment; who may submit may not fill the memory. */
export const MAX_BODY_BYTES = 64 * 1024;

/** Lets the routes for API keys find who decides over them. To be called before the first one is registered. */
export function addApiKeyAccess(server: FastifyInstance, access: ApiKeyAccess): void {
  server.decorate('apiKeyAccess', access);
  server.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.access instanceof ApiKeyAdmission) route.bodyLimit = MAX_BODY_BYTES;
  });
}
