import { RouteConfig } from '@nestjs/platform-fastify';
import type { ApiKeyScope } from '@tollgate/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

import type { RouteAccess } from '../../server/gate.js';
import type { ApiKeyAccess } from './api-key-access.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Set before the first route for API keys is registered. */
    apiKeyAccess: ApiKeyAccess;
  }
}

/** Admits requests with an API key that has one of the scopes. */
export class ApiKeyAdmission implements RouteAccess {
  constructor(
    readonly scopes: readonly ApiKeyScope[],
    /**
     * Also accepts `Basic`, with the key as password. Only for routes that change nothing, since browsers send Basic
     * credentials automatically.
     */
    readonly takesBasic = false,
  ) {}

  admit(request: FastifyRequest, reply: FastifyReply, pass: () => void): void {
    void request.server.apiKeyAccess.admit(this, request, reply, pass);
  }
}

/** Restricts a route to API keys with one of the scopes. */
export function ForApiKeys(...scopes: ApiKeyScope[]): MethodDecorator {
  return RouteConfig({ access: new ApiKeyAdmission(scopes) });
}
