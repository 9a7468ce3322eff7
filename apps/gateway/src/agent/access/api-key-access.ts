import { Inject, Injectable, applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiSecurity } from '@nestjs/swagger';
import { sendProblem, withRequestId, type ApiKey, type ApiKeyScope, type Problem } from '@tollgate/common';
import type { FastifyReply, FastifyRequest, FastifyInstance, RouteOptions } from 'fastify';

import { GatewayEnvironment } from '../../config/gateway.config.js';
import { DescribeRoute, type DescribedRoute } from '../../docs/describe/describe-route.js';
import { AGENT_TAG, API_KEY_SECURITY } from '../../docs/describe/openapi-parts.js';
import type { RouteAccess } from '../../server/gate.js';
import { RateLimit } from '../../server/rate-limit.js';
import { AgentConnections } from '../shared/agent-connections.js';
import { JOBS_UNAVAILABLE } from '../shared/jobs-unavailable.js';
import { setCaller } from './caller.js';
import { KeyGuesses } from './key-guesses.js';

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

export const NOT_JSON: Problem = {
  status: 415,
  code: 'media_type_unsupported',
  detail: 'The body must be application/json.',
};
const TOO_MANY: Problem = { status: 429, code: 'too_many_requests', detail: 'Too many requests with this API key.' };
const TOO_MANY_REFUSED: Problem = {
  status: 429,
  code: 'too_many_requests',
  detail: 'Too many invalid API keys were sent from this address.',
};

/** What a request requires of its API key. */
export interface Demand {
  readonly scopes: readonly ApiKeyScope[];
  readonly takesBasic: boolean;
  readonly rateLimit: RateLimit;
}

/** Authorizes requests with an API key before their bodies are read. */
@Injectable()
export class ApiKeyAccess {
  readonly #rateLimit: RateLimit;
  readonly #guesses: KeyGuesses;

  constructor(
    @Inject(AgentConnections) private readonly connections: AgentConnections,
    @Inject(GatewayEnvironment) { agentJobs, server }: GatewayEnvironment,
  ) {
    this.#rateLimit = new RateLimit(agentJobs.agentRateLimitPerMinute);
    this.#guesses = new KeyGuesses(server.refusedKeysPerMinute);
  }

  /** Passes the request on, or answers it. Never rejects. */
  async admit(
    admission: Omit<Demand, 'rateLimit'>,
    request: FastifyRequest,
    reply: FastifyReply,
    pass: () => void,
  ): Promise<void> {
    void reply.header('X-Request-Id', request.id).header('Cache-Control', 'no-store');
    const problem = await this.#judge(admission, request);
    if (problem === null) withRequestId(request.id, pass);
    else sendProblem(reply, problem);
  }

  /**
   * Authenticates the request's key and makes it the request's caller if it has one of the scopes. Returns null, or the
   * problem to respond with.
   */
  async identify(request: FastifyRequest, { scopes, takesBasic, rateLimit }: Demand): Promise<Problem | null> {
    const { authorization } = request.raw.headers;
    const token = readBearerToken(authorization) ?? (takesBasic ? readBasicToken(authorization) : null);
    if (token === null) return refuseKey(authorization !== undefined, takesBasic);
    const guessWaitMs = this.#guesses.look(request.ip, token);
    if (guessWaitMs > 0) return { ...TOO_MANY_REFUSED, retryAfterMs: guessWaitMs };
    const key = await this.#authenticate(token);
    if (key === 'unknown') return JOBS_UNAVAILABLE;
    if (key === null) return this.#refuseGuess(request.ip, token, takesBasic);
    this.#guesses.admit(token);
    const waitMs = rateLimit.take(key.id);
    if (waitMs > 0) return { ...TOO_MANY, retryAfterMs: waitMs };
    if (!scopes.some((scope) => key.scopes.includes(scope))) return refuseScope(scopes);
    setCaller(request, key);
    return null;
  }

  async #judge({ scopes, takesBasic }: Omit<Demand, 'rateLimit'>, request: FastifyRequest): Promise<Problem | null> {
    const problem = await this.identify(request, { scopes, takesBasic, rateLimit: this.#rateLimit });
    return problem ?? (isJson(request) ? null : NOT_JSON);
  }

  #refuseGuess(address: string, token: string, takesBasic: boolean): Problem {
    const waitMs = this.#guesses.refuse(address, token);
    return waitMs > 0 ? { ...TOO_MANY_REFUSED, retryAfterMs: waitMs } : refuseKey(true, takesBasic);
  }

  async #authenticate(token: string): Promise<ApiKey | null | 'unknown'> {
    try {
      return await this.connections.within(this.connections.keys.authenticate(token));
    } catch (error) {
      this.connections.report(error);
      return 'unknown';
    }
  }
}

/** Whether the Content-Type, if there is one, is JSON. */
export function isJson({ raw }: FastifyRequest): boolean {
  const contentType = raw.headers['content-type'];
  return contentType === undefined || JSON_TYPE.test(contentType);
}

function refuseKey(isPresented: boolean, takesBasic: boolean): Problem {
  const bearer = `Bearer realm="tollgate"${isPresented ? ', error="invalid_token"' : ''}`;
  return {
    status: 401,
    code: 'api_key_refused',
    detail: isPresented
      ? 'The API key is unknown or revoked.'
      : 'This request needs an API key: Authorization: Bearer tgk_<id>_<secret>.',
    headers: { 'WWW-Authenticate': takesBasic ? `Basic realm="tollgate", charset="UTF-8", ${bearer}` : bearer },
  };
}

function refuseScope(scopes: readonly string[]): Problem {
  return {
    status: 403,
    code: 'scope_missing',
    detail: `This request needs an API key with the scope ${scopes.join(' or ')}.`,
    headers: { 'WWW-Authenticate': `Bearer realm="tollgate", error="insufficient_scope", scope="${scopes.join(' ')}"` },
  };
}

const BEARER = /^Bearer +([\w-]{1,128})$/i;
const BASIC = /^Basic +([A-Za-z0-9+/]{1,1024}={0,2})$/i;

/** The API key of an `Authorization` header with a bearer token; null where there is none. */
function readBearerToken(header: string | undefined): string | null {
  return BEARER.exec(header ?? '')?.[1] ?? null;
}

/** For pages in a browser: the API key is the password; any user name is accepted. */
function readBasicToken(header: string | undefined): string | null {
  const encoded = BASIC.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString();
  const colonAt = text.indexOf(':');
  return colonAt === -1 ? null : text.slice(colonAt + 1);
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
