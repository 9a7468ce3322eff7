import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';

import { describeProblems } from './openapi-parts.js';

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
