import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { toOpenApiSchema } from '@tollgate/http';

import packageJson from '../../../../package.json' with { type: 'json' };
import type { GatewayEnvironment } from '../config/gateway.config.js';
import { createExampleRequest } from '../pages/example-request.js';
import type { PaidRoute } from '../paywall/route/paid-route.js';
import { addJobExamples, describeRequests } from './agent/job-requests.js';
import { describePaidRoute, documentPath, PAID_TAG } from './describe-paid-route.js';
import { AGENT_TAG, API_KEY_SECURITY, FACILITATOR_TAG } from './describe/openapi-parts.js';
import { challengeSchema, problemSchema } from './describe/schemas.js';
import { facilitatorRequest } from './facilitator/facilitator-schemas.js';

export interface DocsParts {
  readonly app: INestApplication;
  readonly routes: readonly PaidRoute[];
  readonly environment: GatewayEnvironment;
}

/** The OpenAPI document: the paid routes with their prices, the routes that Nest finds, the operational ones last. */
export function createDocument({ app, routes, environment }: DocsParts): OpenAPIObject {
  const { server, options, facilitator, challenge } = environment;
  const builder = new DocumentBuilder()
    .setTitle('Tollgate')
    .setDescription(describeSale(challenge.signedPayments))
    .setVersion(packageJson.version)
    .setOpenAPIVersion('3.1.0')
    .addTag(PAID_TAG, 'Respond with 402 and a challenge, or with the resource if the request is paid.')
    .addTag(AGENT_TAG, 'Jobs that agents submit and a worker executes on chain, for holders of an API key.');
  if (facilitator.isServed) builder.addTag(FACILITATOR_TAG, 'Verifies and settles signed payments for other servers.');
  builder.addTag(OPERATIONS_TAG, 'Free routes for monitoring and orchestration.');
  if (server.publicUrl !== undefined) builder.addServer(server.publicUrl);
  builder.addSecurity(API_KEY_SECURITY, { type: 'http', scheme: 'bearer', bearerFormat: 'tgk_<id>_<secret>' });
  const document = SwaggerModule.createDocument(app, builder.build(), {
    autoTagControllers: false,
    standardSchemaConverter: toOpenApiSchema,
  });
  const example = createExampleRequest(routes, server.publicUrl ?? originOf(server));
  addJobExamples(document, example?.url ?? 'https://api.example.com/v1/quotes');

  const paths: OpenAPIObject['paths'] = {};
  const schemas: Record<string, object> = {
    ...toOpenApiSchema(challengeSchema).components,
    ...toOpenApiSchema(problemSchema).components,
    ...describeRequests(),
    ...(facilitator.isServed && toOpenApiSchema(facilitatorRequest).components),
  };
  for (const route of routes) {
    const item = (paths[documentPath(route.path)] ??= {});
    for (const method of route.methods) {
      Object.assign(item, { [method.toLowerCase()]: describePaidRoute(route, method, options) });
    }
    if (route.answerSchema !== undefined) schemas[route.answerSchema.name] = route.answerSchema.schema;
  }
  const operations = describeOperations(document.paths);
  const found = Object.entries(document.paths).filter(([path]) => operations[path] === undefined);
  return {
    ...document,
    paths: { ...paths, ...Object.fromEntries(found), ...operations },
    components: { ...document.components, schemas: { ...document.components?.schemas, ...schemas } },
  };
}

function originOf({ tlsCert, port }: GatewayEnvironment['server']): string {
  return `${tlsCert === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
}

function describeSale(takesSignedPayments: boolean): string {
  const sale = 'Resources behind an HTTP 402 payment challenge: pay on chain and send the proof in `X-Payment`.';
  if (!takesSignedPayments) return sale;
  return `${sale} Or sign a payment for the gateway to settle: in \`X-PAYMENT\` (x402 v1), \`PAYMENT-SIGNATURE\` (x402 v2) or a \`Payment\` credential in \`Authorization\` or \`Payment-Authorization\` (MPP).`;
}

const OPERATIONS_TAG = 'Operations';

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
function describeOperations(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const operational = Object.entries(paths).filter(([path]) => DESCRIBED[path] !== undefined);
  const sorted = operational.sort(([one], [other]) => one.localeCompare(other));
  return Object.fromEntries(
    sorted.map(([path, item]) => [path, { ...item, get: { ...item.get, tags: [OPERATIONS_TAG], ...DESCRIBED[path] } }]),
  ) as OpenAPIObject['paths'];
}
