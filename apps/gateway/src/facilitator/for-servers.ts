import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiSecurity } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';

import { MAX_BODY_BYTES } from '../agent/access/api-key-access.js';
import { DescribeRoute, type DescribedRoute } from '../docs/describe/describe-route.js';
import { API_KEY_SECURITY, FACILITATOR_TAG, ref } from '../docs/describe/openapi-parts.js';
import { EXAMPLE_REQUEST } from '../docs/facilitator/example-request.js';
import type { RouteAccess } from '../server/gate.js';
import type { FacilitatorAccess } from './facilitator-access.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Set before the first route of the facilitator is registered. */
    facilitatorAccess: FacilitatorAccess;
  }
}

class FacilitatorAdmission implements RouteAccess {
  constructor(private readonly isSettlement: boolean) {}

  admit(request: FastifyRequest, reply: FastifyReply, pass: () => void): void {
    void request.server.facilitatorAccess.admit(this.isSettlement, request, reply, pass);
  }
}

const BODY = {
  schema: ref('FacilitatorRequest'),
  examples: { devnet: { summary: 'Signed by a payer of npm run dev', value: EXAMPLE_REQUEST } },
};
const REFUSALS: Readonly<Record<number, string>> = {
  400: "The calling server's part is malformed: the body, the requirements or the Idempotency-Key.",
  403: 'The API key lacks the scope settle.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  429: 'Too many requests with this API key, or from this address.',
};

/** Marks a route for servers that accept signed payments, and describes it. */
export function ForServers({ settles, ...route }: DescribedRoute & { settles: boolean }): MethodDecorator {
  return applyDecorators(
    RouteConfig({ access: new FacilitatorAdmission(settles) }),
    // Only some payments need a key, but a key that is sent must be valid.
    ApiSecurity({}),
    ApiSecurity(API_KEY_SECURITY),
    DescribeRoute(FACILITATOR_TAG, { ...route, body: BODY, problems: { ...REFUSALS, ...route.problems } }),
  );
}

/** Makes the access check available to the facilitator's routes. Must be called before the first one is registered. */
export function addFacilitatorAccess(server: FastifyInstance, access: FacilitatorAccess): void {
  server.decorate('facilitatorAccess', access);
  server.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.access instanceof FacilitatorAdmission) route.bodyLimit = MAX_BODY_BYTES;
  });
}
