import { Inject, Injectable, applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiSecurity } from '@nestjs/swagger';
import {
  KeyAdmission,
  RateLimit,
  sendProblem,
  withRequestId,
  type ApiKey,
  type ApiKeyScope,
  type Demand,
  type Problem,
} from '@tollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { GatewayEnvironment } from '../../config/gateway.config.js';
import { DescribeRoute, type DescribedRoute, AGENT_TAG, API_KEY_SECURITY } from '../../docs/describe/openapi-parts.js';
import type { RouteAccess } from '../../server/admission.js';
import { AgentConnections } from '../shared/agent-connections.js';
import { JOBS_UNAVAILABLE } from '../shared/agent-error.filter.js';
import { setCaller } from './caller.js';

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

const NOT_JSON: Problem = {
  status: 415,
  code: 'media_type_unsupported',
  detail: 'The body must be application/json.',
};
/** Authorizes requests with an API key before their bodies are read. */
@Injectable()
export class ApiKeyAccess {
  readonly #rateLimit: RateLimit;
  readonly #admission: KeyAdmission;

  constructor(
    @Inject(AgentConnections) connections: AgentConnections,
    @Inject(GatewayEnvironment) { agentJobs, server }: GatewayEnvironment,
  ) {
    this.#rateLimit = new RateLimit(agentJobs.agentRateLimitPerMinute);
    const { refusedKeysPerMinute } = server;
    this.#admission = new KeyAdmission(reporting(connections), { refusedKeysPerMinute, unavailable: JOBS_UNAVAILABLE });
  }

  /** See `passUnless`. */
  admit(
    { scopes, takesBasic }: Omit<Demand, 'rateLimit'>,
    request: FastifyRequest,
    reply: FastifyReply,
    pass: () => void,
  ): Promise<void> {
    const judging = this.identify(request, { scopes, takesBasic, rateLimit: this.#rateLimit });
    return passUnless(judging, request, reply, pass);
  }

  /**
   * Authenticates the request's key and makes it the request's caller if it has one of the scopes. Returns null, or the
   * problem to respond with.
   */
  async identify(request: FastifyRequest, demand: Demand): Promise<Problem | null> {
    const { authorization } = request.raw.headers;
    const judged = await this.#admission.identify({ address: request.ip, authorization }, demand);
    if ('problem' in judged) return judged.problem;
    setCaller(request, judged.key);
    return null;
  }
}

/** Passes a request on unless it has a problem, or a body that is not JSON; then answers it. Never rejects. */
export async function passUnless(
  judging: Promise<Problem | null>,
  request: FastifyRequest,
  reply: FastifyReply,
  pass: () => void,
): Promise<void> {
  void reply.header('X-Request-Id', request.id).header('Cache-Control', 'no-store');
  const problem = (await judging) ?? (isJson(request) ? null : NOT_JSON);
  if (problem === null) withRequestId(request.id, pass);
  else sendProblem(reply, problem);
}

/** The keys, with a limit on the wait for them. */
function reporting(connections: AgentConnections): { authenticate(token: string): Promise<ApiKey | null> } {
  return {
    authenticate: async (token) => {
      try {
        return await connections.within(connections.keys.authenticate(token));
      } catch (error) {
        connections.report(error);
        throw error;
      }
    },
  };
}

/** Whether the Content-Type, if there is one, is JSON. */
function isJson({ raw }: FastifyRequest): boolean {
  const contentType = raw.headers['content-type'];
  return contentType === undefined || JSON_TYPE.test(contentType);
}

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

/** Far larger than any job or payment, and small enough that a client with a key cannot fill the memory. */
export const MAX_BODY_BYTES = 64 * 1024;

/** Admits requests with an API key that has one of the scopes. */
export class ApiKeyAdmission implements RouteAccess {
  readonly bodyLimit = MAX_BODY_BYTES;

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
