import { Inject, Injectable, applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiSecurity } from '@nestjs/swagger';
import { type Problem, RateLimit, problemOf } from '@tollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { ApiKeyAccess, MAX_BODY_BYTES, passUnless } from '../agent/access/api-key-access.js';
import { GatewayEnvironment } from '../config/gateway.config.js';
import {
  DescribeRoute,
  type DescribedRoute,
  API_KEY_SECURITY,
  FACILITATOR_TAG,
  ref,
} from '../docs/describe/openapi-parts.js';
import { EXAMPLE_REQUEST } from '../docs/facilitator/facilitator-schemas.js';
import type { RouteAccess } from '../server/admission.js';

const SCOPES = ['settle'] as const;

/** What a server asks for. */
type Question = 'supported' | 'verify' | 'settle';

export const KEY_NEEDED: Problem = {
  status: 401,
  code: 'api_key_refused',
  detail: 'Settling this payment needs an API key with the scope settle: Authorization: Bearer tgk_<id>_<secret>.',
  headers: { 'WWW-Authenticate': 'Bearer realm="tollgate", scope="settle"' },
};

/**
 * Authorizes requests to the facilitator before their bodies are read. Requests without an API key are rate-limited by
 * address.
 */
@Injectable()
export class FacilitatorAccess {
  readonly #rateLimit: RateLimit;
  readonly #settlesWithoutKey: boolean;

  constructor(
    @Inject(ApiKeyAccess) private readonly keys: ApiKeyAccess,
    @Inject(GatewayEnvironment) { facilitator }: GatewayEnvironment,
  ) {
    this.#rateLimit = new RateLimit(facilitator.facilitatorRateLimitPerMinute);
    this.#settlesWithoutKey = facilitator.facilitatorPayTo.length > 0;
  }

  /** See `passUnless`. */
  admit(question: Question, request: FastifyRequest, reply: FastifyReply, pass: () => void): Promise<void> {
    return passUnless(this.#judge(question, request), request, reply, pass);
  }

  async #judge(question: Question, request: FastifyRequest): Promise<Problem | null> {
    return request.raw.headers.authorization === undefined
      ? this.#judgeAddress(question, request.ip)
      : this.keys.identify(request, { scopes: SCOPES, takesBasic: false, rateLimit: this.#rateLimit });
  }

  #judgeAddress(question: Question, address: string): Problem | null {
    if (question === 'supported') return null;
    const waitMs = this.#rateLimit.take(address);
    if (waitMs > 0) return { ...problemOf(429), retryAfterMs: waitMs };
    return question === 'settle' && !this.#settlesWithoutKey ? KEY_NEEDED : null;
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Set before the first route of the facilitator is registered. */
    facilitatorAccess: FacilitatorAccess;
  }
}

const createAccess = (question: Question): RouteAccess => ({
  bodyLimit: MAX_BODY_BYTES,
  admit: (request, reply, pass) => void request.server.facilitatorAccess.admit(question, request, reply, pass),
});

const BODY = {
  schema: ref('FacilitatorRequest'),
  examples: { devnet: { summary: 'Signed by a payer of npm run dev', value: EXAMPLE_REQUEST } },
};
const KEY_REFUSALS: Readonly<Record<number, string>> = {
  401: 'The API key is unknown or revoked.',
  403: 'The API key lacks the scope settle, or is limited to other options or chains.',
  429: 'Too many requests with this API key, or from this address.',
  503: 'The API keys cannot be read: send the same request again.',
};
const BODY_REFUSALS: Readonly<Record<number, string>> = {
  400: "The calling server's part is malformed: the body, the requirements or the Idempotency-Key.",
  413: 'The body is too large.',
  415: 'The body is not JSON.',
};

/** Marks a route for servers that accept signed payments, and describes it. */
export function ForServers(question: Question, route: DescribedRoute): MethodDecorator {
  const refusals = question === 'supported' ? KEY_REFUSALS : { ...KEY_REFUSALS, ...BODY_REFUSALS };
  return applyDecorators(
    RouteConfig({ access: createAccess(question) }),
    // Only some payments need a key, but a key that is sent must be valid.
    ApiSecurity({}),
    ApiSecurity(API_KEY_SECURITY),
    DescribeRoute(FACILITATOR_TAG, {
      ...route,
      ...(question !== 'supported' && { body: BODY }),
      problems: { ...refusals, ...route.problems },
    }),
  );
}
