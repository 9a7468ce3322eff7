import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiSecurity } from '@nestjs/swagger';
import type { ApiKeyScope } from '@tollgate/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { DescribeRoute, type DescribedRoute } from '../../docs/describe/describe-route.js';
import { AGENT_TAG, API_KEY_SECURITY } from '../../docs/describe/openapi-parts.js';
import type { RouteAccess } from '../../server/gate.js';
import type { ApiKeyAccess } from './api-key-access.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Set before the first route for API keys is registered. */
    apiKeyAccess: ApiKeyAccess;
  }
}

const REFUSALS: Readonly<Record<number, string>> = {
  401: 'No API key, or one that is unknown or revoked.',
  403: 'The API key lacks the scope, or may not do this.',
  429: 'Too many requests with this API key.',
  503: 'The journal or the workers are unavailable: send the same request again.',
};

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

/** Restricts a route to API keys with one of the scopes, and describes it. */
export function ForApiKeys(scopes: readonly ApiKeyScope[], route: DescribedRoute): MethodDecorator {
  const needs = `Scope: ${scopes.join(' or ')}.`;
  const description = route.description === undefined ? needs : `${route.description} ${needs}`;
  return applyDecorators(
    RouteConfig({ access: new ApiKeyAdmission(scopes) }),
    ApiSecurity(API_KEY_SECURITY),
    DescribeRoute(AGENT_TAG, { ...route, description, problems: { ...REFUSALS, ...route.problems } }),
  );
}
