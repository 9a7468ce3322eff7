import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ApiKey } from '@tollgate/http';
import type { FastifyRequest } from 'fastify';

const callers = new WeakMap<FastifyRequest, ApiKey>();

/** Sets the request's caller. Only the admission of an API key may call this. */
export function setCaller(request: FastifyRequest, key: ApiKey): void {
  callers.set(request, key);
}

/** The API key of the request. */
export const CallerKey = createParamDecorator((_: unknown, context: ExecutionContext): ApiKey => {
  const caller = callers.get(context.switchToHttp().getRequest<FastifyRequest>());
  if (caller === undefined) throw new Error('A route for API keys was reached without passing its admission.');
  return caller;
});

/** The API key of a request that may omit it; null without one. */
export const OptionalCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext): ApiKey | null =>
    callers.get(context.switchToHttp().getRequest<FastifyRequest>()) ?? null,
);

/** Whether the key may see and decide on jobs that other keys submitted. */
export function isOperator({ scopes }: ApiKey): boolean {
  return scopes.includes('operator');
}
