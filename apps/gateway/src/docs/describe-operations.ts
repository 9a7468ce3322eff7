import type { OpenAPIObject } from '@nestjs/swagger';

export const OPERATIONS_TAG = 'Operations';

const json = { 'application/json': { schema: { type: 'object', properties: { status: { type: 'string' } } } } };
const DESCRIBED: Readonly<Record<string, object>> = {
  '/health/live': {
    summary: 'Liveness',
    responses: {
      '200': {
        description: 'The process runs. A failing dependency does not change this, since a restart would not help.',
        content: json,
      },
    },
  },
  '/health/ready': {
    summary: 'Readiness',
    responses: {
      '200': { description: 'Every dependency responds.', content: json },
      '503': {
        description: 'A dependency, given by name, does not respond, or the process is stopping.',
        content: json,
      },
    },
  },
  '/metrics': {
    summary: 'Prometheus metrics',
    responses: {
      '200': { description: 'The metrics in text format.', content: { 'text/plain': { schema: { type: 'string' } } } },
    },
  },
};

/** The operational routes that Nest found, with descriptions that Nest cannot derive. */
export function describeOperations(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const operational = Object.entries(paths).filter(([path]) => DESCRIBED[path] !== undefined);
  const sorted = operational.sort(([one], [other]) => one.localeCompare(other));
  return Object.fromEntries(
    sorted.map(([path, item]) => [path, { ...item, get: { ...item.get, tags: [OPERATIONS_TAG], ...DESCRIBED[path] } }]),
  ) as OpenAPIObject['paths'];
}
