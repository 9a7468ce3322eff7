import { Inject, Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { recordAct } from '@tollgate/book';
import { ProblemError } from '@tollgate/common';
import { isRecord } from '@tollgate/protocol';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';

import { BookHolder } from '../book/book-holder.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { ACT, callerOf } from './operator-access.js';

const MAX_SUBJECT = 300;
const MAX_BODY = 4_000;

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
  // The database stores no control characters, and the text of a body has none.
  const [named] = Object.values(params as Record<string, string>);
  const subject = named ?? paymentOf(body) ?? 'book';
  return {
    ...{ keyId: callerOf(request).id, action, requestId },
    subject: subject.replace(/\p{Cc}/gu, '?').slice(0, MAX_SUBJECT),
    details: body === undefined || body === null ? {} : { body: JSON.stringify(body, withoutPath).slice(0, MAX_BODY) },
  };
}

/** Of a webhook's URL only the host: what follows may hold a secret of its owner. */
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
