import {
  applyDecorators,
  createParamDecorator,
  Inject,
  Injectable,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiBearerAuth, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiKeyStore, KeyAdmission, ProblemError, RateLimit, type ApiKey, type ApiKeyScope } from '@tollgate/common';
import { withTimeout } from '@tollgate/redis';
import type { FastifyRequest } from 'fastify';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookkeeperConnections } from '../drain/connections.js';

const SCOPES = Symbol('scopes of a route');
/** Metadata of a route that writes: how the audit table names what it does. */
export const ACT = Symbol('act of a route');
const KEYS_WITHIN_MS = 3_000;

const callers = new WeakMap<FastifyRequest, ApiKey>();

/** Admits requests with an API key that has one of the route's scopes, within the rate of the key. */
@Injectable()
export class OperatorGuard implements CanActivate {
  readonly #admission: KeyAdmission;
  readonly #rateLimit: RateLimit;

  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(BookkeeperConnections) { commands }: BookkeeperConnections,
    @Inject(BookkeeperEnvironment) { server }: BookkeeperEnvironment,
  ) {
    const store = new ApiKeyStore(commands);
    const keys = { authenticate: (token: string) => withTimeout(store.authenticate(token), KEYS_WITHIN_MS) };
    this.#rateLimit = new RateLimit(server.operatorRateLimitPerMinute);
    this.#admission = new KeyAdmission(keys, {
      refusedKeysPerMinute: server.operatorRefusedKeysPerMinute,
      unavailable: { status: 503, code: 'service_unavailable', detail: 'The API keys cannot be read now.' },
    });
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const scopes = this.reflector.get<readonly ApiKeyScope[] | undefined>(SCOPES, context.getHandler()) ?? [];
    const presented = { address: request.ip, authorization: request.headers.authorization };
    const judged = await this.#admission.identify(presented, { scopes, takesBasic: false, rateLimit: this.#rateLimit });
    if ('problem' in judged) throw new ProblemError(judged.problem);
    callers.set(request, judged.key);
    return true;
  }
}

/**
 * Restricts a route to API keys with this scope, and describes it.
 * @param act of a route that writes: how the audit table names what it does
 */
export function ForOperators(scope: ApiKeyScope, summary: string, act?: string): MethodDecorator {
  return applyDecorators(
    SetMetadata(SCOPES, [scope]),
    SetMetadata(ACT, act),
    UseGuards(OperatorGuard),
    ApiBearerAuth(),
    ApiTags('Operator'),
    ApiOperation({ summary, description: `Scope: ${scope}.` }),
  );
}

/** The API key of the request. */
export const OperatorKey = createParamDecorator((_: unknown, context: ExecutionContext): ApiKey =>
  callerOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** The API key of a request that the guard has admitted. */
export function callerOf(request: FastifyRequest): ApiKey {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error('An operator route was reached without its guard.');
  return caller;
}
