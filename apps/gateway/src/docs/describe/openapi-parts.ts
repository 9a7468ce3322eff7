import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { IDEMPOTENT_REPLAYED } from '@tollgate/protocol';
import type { z } from 'zod';

export const AGENT_TAG = 'Agent jobs';
export const FACILITATOR_TAG = 'Facilitator';
export const API_KEY_SECURITY = 'ApiKey';

export const RETRY_AFTER = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } };

export const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

/** The header of a replayed response. */
export const REPLAYED = (description: string): object => ({
  [IDEMPOTENT_REPLAYED]: { description, schema: { type: 'string', enum: ['true'] } },
});

/** A response with a JSON body. */
export function answerWith(description: string, answer: z.ZodType, headers: object = {}): object {
  return { description, headers, standardSchema: answer };
}

export function describeProblem(description: string, headers: object = {}): object {
  return { description, headers, content: { 'application/problem+json': { schema: ref('Problem') } } };
}

/** Problem responses by status, with `Retry-After` where the same request may be repeated. */
function describeProblems(problems: Readonly<Record<string, string>>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(problems).map(([status, description]) => [
      status,
      describeProblem(description, status === '429' || status === '503' ? RETRY_AFTER : {}),
    ]),
  );
}

/** What the document says of a route beyond its path, its parameters and the schemas that they are checked with. */
export interface DescribedRoute {
  readonly summary: string;
  readonly description?: string;
  /** What the path's `:id` is. */
  readonly id?: string;
  readonly headers?: readonly { name: string; description: string; required?: boolean; schema: object }[];
  /** For a JSON body: its schema, where the handler has none, and examples by name. */
  readonly body?: { readonly schema?: object; readonly examples?: Record<string, { value: unknown }> };
  /** Responses by status. */
  readonly answers: Readonly<Record<number, object>>;
  readonly problems?: Readonly<Record<number, string>>;
}

/** Describes a route in the OpenAPI document. */
export function DescribeRoute(tag: string, route: DescribedRoute): MethodDecorator {
  const { summary, description, id, headers = [], body, answers, problems = {} } = route;
  const responses: Readonly<Record<string, object>> = { ...answers, ...describeProblems(problems) };
  return applyDecorators(
    ApiTags(tag),
    ApiOperation({ summary, ...(description !== undefined && { description }) }),
    ...(id === undefined ? [] : [ApiParam({ name: 'id', description: id })]),
    ...headers.map((header) => ApiHeader(header)),
    ...(body === undefined ? [] : [ApiBody(body as Parameters<typeof ApiBody>[0])]),
    ...Object.entries(responses).map(([status, response]) => ApiResponse({ ...response, status: Number(status) })),
  );
}
