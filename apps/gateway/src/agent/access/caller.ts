import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ApiKey } from '@tollgate/common';
import type { FastifyRequest } from 'fastify';

const callers = new WeakMap<FastifyRequest, ApiKey>();

/** Notes whose request this is; nothing but the admission of an API key does. */
export function setCaller(request: FastifyRequest, key: ApiKey): void {
  callers.set(request, key);
}

/** The holder of the API key that the request came with. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): ApiKey => {
  const caller = callers.get(context.switchToHttp().getRequest<FastifyRequest>());
  if (caller === undefined) throw new Error('A route for API keys was reached past its admission.');
  return caller;
});

/** The same where a key is not needed; null without one. */
export const OptionalCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext): ApiKey | null =>
    callers.get(context.switchToHttp().getRequest<FastifyRequest>()) ?? null,
);

/** Whether the key may see and end what other keys submitted. */
export function isOperator({ scopes }: ApiKey): boolean {
  return scopes.includes('operator');
}
