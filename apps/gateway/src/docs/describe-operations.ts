import type { OpenAPIObject } from '@nestjs/swagger';

export const OPERATIONS_TAG = 'Operations';

const json = { 'application/json': { schema: { type: 'object', properties: { status: { type: 'string' } } } } };
const DESCRIBED: Readonly<Record<string, object>> = {
  '/health/live': {
    summary: 'The process runs',
    responses: { '200': { description: 'It does; a failing dependency is no reason to restart it.', content: json } },
  },
  '/health/ready': {
    summary: 'The gateway can take proofs',
    responses: {
      '200': { description: 'Every dependency answers.', content: json },
      '503': { description: 'One does not, by its name, or the process is stopping.', content: json },
    },
  },
  '/metrics': {
    summary: 'Prometheus metrics',
    responses: {
      '200': { description: 'The text format.', content: { 'text/plain': { schema: { type: 'string' } } } },
    },
  },
};

/** The free routes for machines that Nest found, with what it cannot know of them. */
export function describeOperations(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const operational = Object.entries(paths).filter(([path]) => DESCRIBED[path] !== undefined);
  const sorted = operational.sort(([one], [other]) => one.localeCompare(other));
  return Object.fromEntries(
    sorted.map(([path, item]) => [path, { ...item, get: { ...item.get, tags: [OPERATIONS_TAG], ...DESCRIBED[path] } }]),
  ) as OpenAPIObject['paths'];
}
