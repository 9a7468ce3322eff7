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
import { ProblemError, type ApiKey, type ApiKeyScope } from '@tollgate/common';
import type { FastifyRequest } from 'fastify';

import { ConsoleSessions } from '../sessions/console-sessions.js';
import { OperatorKeys } from '../sessions/operator-keys.js';
import { sessionOf } from '../sessions/session-request.js';

const SCOPES = Symbol('scopes of a route');
/** Metadata of a route that writes: how the audit table names what it does. */
export const ACT = Symbol('act of a route');

const callers = new WeakMap<FastifyRequest, ApiKey>();

/** Admits requests whose API key, or the key of whose session at the console, has one of the route's scopes. */
@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(OperatorKeys) private readonly keys: OperatorKeys,
    @Inject(ConsoleSessions) private readonly sessions: ConsoleSessions,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const scopes = this.reflector.get<readonly ApiKeyScope[] | undefined>(SCOPES, context.getHandler()) ?? [];
    const session = sessionOf(request);
    const judged = await (session === null
      ? this.keys.identify({ address: request.ip, authorization: request.headers.authorization }, scopes)
      : this.keys.admit(session.keyId, scopes));
    if ('problem' in judged) {
      if (session !== null && judged.problem.status === 401) this.sessions.endOf(session.keyId);
      throw new ProblemError(judged.problem);
    }
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
