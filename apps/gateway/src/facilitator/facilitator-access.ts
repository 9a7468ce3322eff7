import { Inject, Injectable } from '@nestjs/common';
import { type Problem, RateLimit, sendProblem, withRequestId } from '@tollgate/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { ApiKeyAccess, isJson, NOT_JSON } from '../agent/access/api-key-access.js';
import { GatewayEnvironment } from '../config/gateway.config.js';

const SCOPES = ['settle'] as const;

const TOO_MANY: Problem = { status: 429, code: 'too_many_requests', detail: 'Too many requests from this address.' };
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

  /** Passes the request on, or answers it. Never rejects. */
  async admit(isSettlement: boolean, request: FastifyRequest, reply: FastifyReply, pass: () => void): Promise<void> {
    void reply.header('X-Request-Id', request.id).header('Cache-Control', 'no-store');
    const problem = await this.#judge(isSettlement, request);
    if (problem === null) withRequestId(request.id, pass);
    else sendProblem(reply, problem);
  }

  async #judge(isSettlement: boolean, request: FastifyRequest): Promise<Problem | null> {
    const problem =
      request.raw.headers.authorization === undefined
        ? this.#judgeAddress(isSettlement, request.ip)
        : await this.keys.identify(request, { scopes: SCOPES, takesBasic: false, rateLimit: this.#rateLimit });
    return problem ?? (isJson(request) ? null : NOT_JSON);
  }

  #judgeAddress(isSettlement: boolean, address: string): Problem | null {
    const waitMs = this.#rateLimit.take(address);
    if (waitMs > 0) return { ...TOO_MANY, retryAfterMs: waitMs };
    return isSettlement && !this.#settlesWithoutKey ? KEY_NEEDED : null;
  }
}
