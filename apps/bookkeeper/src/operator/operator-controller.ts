import {
  applyDecorators,
  Controller,
  createParamDecorator,
  HttpCode,
  Inject,
  Injectable,
  RequestMapping,
  RequestMethod,
  SetMetadata,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiParam, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { recordAct } from '@tollgate/book';
import {
  checkRequest,
  ProblemError,
  refuseRequest,
  toOpenApiSchema,
  type ApiKey,
  type ApiKeyScope,
} from '@tollgate/http';
import {
  OPERATOR_ROUTES,
  type AnswerOfRoute,
  type AskedOfRoute,
  type OperatorRoute,
  type RouteName,
} from '@tollgate/operator-api';
import { isRecord } from '@tollgate/protocol';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';

import { BookHolder } from '../book/book-holder.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { ConsoleSessions, sessionOf } from '../sessions/console-sessions.js';
import { OperatorKeys } from '../sessions/operator-keys.js';
import { OperatorErrorFilter } from './operator-error.filter.js';

const SCOPES = Symbol('scopes of a route');
/** Metadata of a route that writes: how the audit table names what it does. */
const ACT = Symbol('act of a route');

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

/** The request, checked with the schemas of its route; `caller`: its API key. */
const Request = createParamDecorator(({ query, body }: OperatorRoute, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return {
    ...(request.params as object),
    caller: callerOf(request),
    query: query && checkRequest(query, request.query),
    body: body && checkRequest(body, request.body),
  };
});

/** What the handler of a route gets. */
export type Operator<Name extends RouteName> = AskedOfRoute<Name> & { caller: ApiKey };

type Handler<Name extends RouteName> = (
  asked: Operator<Name>,
  ...more: never[]
) => AnswerOfRoute<Name> | Promise<AnswerOfRoute<Name>>;

/**
 * Serves a route of `OPERATOR_ROUTES` to API keys with its scope. The handler's first parameter is what was asked, and its
 * answer has the type of the route's schema.
 */
export function Serve<Name extends RouteName>(name: Name) {
  const [method, path] = name.split(' ') as [keyof typeof RequestMethod, string];
  const route: OperatorRoute = OPERATOR_ROUTES[name];
  return <Served extends Handler<Name>>(
    controller: object,
    property: string,
    descriptor: TypedPropertyDescriptor<Served>,
  ): void => {
    Request(route)(controller, property, 0);
    applyDecorators(
      RequestMapping({ path, method: RequestMethod[method] }),
      ...(route.status === undefined ? [] : [HttpCode(route.status)]),
      SetMetadata(SCOPES, [route.scope]),
      SetMetadata(ACT, route.act),
      UseGuards(OperatorGuard),
      ...describe(method, path, route),
    )(controller, property, descriptor);
  };
}

function describe(
  method: string,
  path: string,
  { scope, summary, query, body, answer, status = method === 'POST' ? 201 : 200 }: OperatorRoute,
): MethodDecorator[] {
  const parameters = query === undefined ? {} : toOpenApiSchema(query).schema;
  const { properties = {} } = parameters as { properties?: Record<string, { description?: string }> };
  return [
    ApiBearerAuth(),
    ApiTags('Operator'),
    ApiOperation({ summary, description: `Scope: ${scope}.` }),
    ...[...path.matchAll(/:(\w+)/g)].map(([, param = '']) => ApiParam({ name: param, schema: { type: 'string' } })),
    ...Object.entries(properties).map(([field, schema]) =>
      ApiQuery({
        name: field,
        required: false,
        schema,
        ...(schema.description && { description: schema.description }),
      }),
    ),
    ...(body === undefined ? [] : [ApiBody({ schema: toOpenApiSchema(body).schema })]),
    ApiResponse({ status, description: '', ...(answer && { standardSchema: answer }) }),
  ];
}

/** The API key of a request that the guard has admitted. */
function callerOf(request: FastifyRequest): ApiKey {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error('An operator route was reached without its guard.');
  return caller;
}

/**
 * A controller of the operator API: records each write before it is done, and answers errors as problems.
 */
export function OperatorController(): ClassDecorator {
  return applyDecorators(Controller(), UseFilters(OperatorErrorFilter), UseInterceptors(AuditTrail));
}

const MAX_SUBJECT = 300;
const MAX_BODY = 4_000;
/** More than any body of this API has. */
const MAX_LEVELS = 8;

/** Records every write in the audit table before it is done: what cannot be recorded is not done. */
@Injectable()
export class AuditTrail implements NestInterceptor {
  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    // Nothing is done, also where a read is recorded.
    if (request.method === 'HEAD') return next.handle();
    const action = this.reflector.get<string | undefined>(ACT, context.getHandler());
    if (action === undefined) {
      if (request.method === 'GET') return next.handle();
      throw new Error(`${request.method} ${request.routeOptions.url ?? ''} has no name for the audit table.`);
    }
    const mostPerDay = this.environment.server.operatorWritesPerDay;
    const isRecorded = await recordAct(this.book.writer, describeAct(request, action), { mostPerDay });
    if (!isRecorded) throw tooMany(mostPerDay);
    return next.handle();
  }
}

function describeAct(request: FastifyRequest, action: string) {
  const { id: requestId, params, body } = request;
  // The body is recorded before it is checked, and JSON.stringify takes stack for each level.
  if (isDeeper(body, MAX_LEVELS)) throw refuseRequest([`the body must have at most ${MAX_LEVELS} levels`]);
  // The database stores no control characters, and the text of a body has none.
  const [named] = Object.values(params as Record<string, string>);
  const subject = named ?? paymentOf(body) ?? 'book';
  return {
    keyId: callerOf(request).id,
    action,
    requestId,
    subject: subject.replace(/\p{Cc}/gu, '?').slice(0, MAX_SUBJECT),
    details: body === undefined || body === null ? {} : { body: JSON.stringify(body, withoutPath).slice(0, MAX_BODY) },
  };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}

/** Keeps only the host of a webhook's URL: what follows may hold a secret of its owner. */
function withoutPath(name: string, value: unknown): unknown {
  if (name !== 'url' || typeof value !== 'string') return value;
  return URL.canParse(value) ? new URL(value).host : 'no URL';
}

function paymentOf(body: unknown): string | null {
  const payment = isRecord(body) ? body['payment'] : null;
  return typeof payment === 'string' ? payment : null;
}

function tooMany(mostPerDay: number): ProblemError {
  const detail = `This API key has made its ${mostPerDay} writes of today, UTC (OPERATOR_WRITES_PER_DAY).`;
  const retryAfterMs = 86_400_000 - (Date.now() % 86_400_000);
  return new ProblemError({ status: 429, code: 'daily_cap', detail, retryAfterMs });
}
