import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';

import { MAX_BODY_BYTES } from '../agent/access/add-api-key-access.js';
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

/** Marks a route for servers that accept signed payments. */
export function ForServers({ settles }: { settles: boolean }): MethodDecorator {
  return RouteConfig({ access: new FacilitatorAdmission(settles) });
}

/** Makes the access check available to the facilitator's routes. Must be called before the first one is registered. */
export function addFacilitatorAccess(server: FastifyInstance, access: FacilitatorAccess): void {
  server.decorate('facilitatorAccess', access);
  server.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.access instanceof FacilitatorAdmission) route.bodyLimit = MAX_BODY_BYTES;
  });
}
