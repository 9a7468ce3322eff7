import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { PaymentOption } from '@tollgate/config';
import { toOpenApiSchema, type WebFile } from '@tollgate/http';

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
  /** The seller's, where pages are served. */
  readonly logo: WebFile | null;
}

/** The documents, by their names in URLs: what a seller's customers read has nothing of the other interfaces. */
export const DOCUMENTS = {
  sold: { title: 'paid resources', has: () => false },
  jobs: { title: 'agent jobs', has: (path: string) => path.startsWith('/agent/') },
  facilitator: { title: 'facilitator', has: (path: string) => path.startsWith('/facilitator/') },
  operations: { title: 'health and metrics', has: (path: string) => path in DESCRIBED },
} as const;

export type DocumentName = keyof typeof DOCUMENTS;

/** An OpenAPI document under the seller's name: the paid routes with their prices, or routes that Nest finds. */
export function createDocument({ app, routes, environment }: DocsParts, name: DocumentName): OpenAPIObject {
  const { server, options, challenge, pages } = environment;
  const builder = new DocumentBuilder()
    .setTitle(name === 'sold' ? pages.brandName : `${pages.brandName}: ${DOCUMENTS[name].title}`)
    .setVersion(packageJson.version)
    .setOpenAPIVersion('3.1.0');
  if (name === 'sold') {
    builder.setDescription(describeSale(challenge.signedPayments));
    builder.addTag(PAID_TAG, 'Respond with 402 and a challenge, or with the resource if the request is paid.');
  }
  if (name === 'jobs')
    builder.addTag(AGENT_TAG, 'Jobs that agents submit and a worker executes on chain, for holders of an API key.');
  if (name === 'facilitator')
    builder.addTag(FACILITATOR_TAG, 'Verifies and settles signed payments for other servers.');
  if (name === 'jobs' || name === 'facilitator')
    builder.addSecurity(API_KEY_SECURITY, { type: 'http', scheme: 'bearer', bearerFormat: 'tgk_<id>_<secret>' });
  if (server.publicUrl !== undefined) builder.addServer(server.publicUrl);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    autoTagControllers: false,
    standardSchemaConverter: toOpenApiSchema,
  });
  const example = createExampleRequest(routes, server.publicUrl ?? originOf(server));
  addJobExamples(document, example?.url ?? 'https://api.example.com/v1/quotes');
  const found = Object.entries(document.paths).filter(([path]) => DOCUMENTS[name].has(path));
  const paths = {
    sold: () => describePaidRoutes(routes, options),
    operations: () => describeOperations(Object.fromEntries(found)),
    jobs: () => Object.fromEntries(found),
    facilitator: () => Object.fromEntries(found),
  }[name]();
  const schemas: Record<string, object> = {
    ...document.components?.schemas,
    ...toOpenApiSchema(challengeSchema).components,
    ...toOpenApiSchema(problemSchema).components,
    ...describeRequests(),
    ...toOpenApiSchema(facilitatorRequest).components,
    ...Object.fromEntries(
      routes.flatMap(({ answerSchema: own }) => (own === undefined ? [] : [[own.name, own.schema]])),
    ),
  };
  return {
    ...document,
    paths,
    components: { ...document.components, schemas: withReferred(paths, schemas) },
  };
}

function describePaidRoutes(routes: readonly PaidRoute[], options: readonly PaymentOption[]): Record<string, object> {
  const paths: Record<string, object> = {};
  for (const route of routes) {
    const item = (paths[documentPath(route.path)] ??= {});
    for (const method of route.methods)
      Object.assign(item, { [method.toLowerCase()]: describePaidRoute(route, method, options) });
  }
  return paths;
}

/** The schemas that the paths refer to, also through one another. */
function withReferred(paths: object, schemas: Readonly<Record<string, object>>): Record<string, object> {
  const referred: Record<string, object> = {};
  const add = (content: object): void => {
    for (const [, name = ''] of JSON.stringify(content).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      const schema = schemas[name];
      if (schema === undefined || referred[name] !== undefined) continue;
      referred[name] = schema;
      add(schema);
    }
  };
  add(paths);
  return referred;
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

/** Operational routes that Nest found, with descriptions that Nest cannot derive. */
function describeOperations(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const sorted = Object.entries(paths).sort(([one], [other]) => one.localeCompare(other));
  return Object.fromEntries(
    sorted.map(([path, item]) => [path, { ...item, get: { ...item.get, tags: [OPERATIONS_TAG], ...DESCRIBED[path] } }]),
  ) as OpenAPIObject['paths'];
}
