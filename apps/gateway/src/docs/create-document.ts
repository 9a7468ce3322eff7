import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { formatTokenAmount } from '@tollgate/protocol';

import type { PaidRoute } from '../paywall/paid-route.js';
import { CHALLENGE_SCHEMA, PROBLEM_SCHEMA } from './schemas.js';
import type { DocsParts } from './register-docs.js';

/** The OpenAPI document: the free routes as Nest knows them, and every paid route with its price and its 402. */
export function createDocument({ app, routes, environment }: DocsParts): OpenAPIObject {
  const { publicUrl } = environment.server;
  const builder = new DocumentBuilder()
    .setTitle('Tollgate')
    .setDescription('Resources behind an HTTP 402 payment challenge: pay on chain, send the proof in X-Payment.')
    .setVersion('1')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-Payment', description: 'base64 of a PaymentProof' }, 'payment');
  if (publicUrl !== undefined) builder.addServer(publicUrl);
  const document = SwaggerModule.createDocument(app, builder.build());
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, PaymentChallenge: CHALLENGE_SCHEMA, Problem: PROBLEM_SCHEMA },
  };
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}').replace(/\*$/, '{rest}');
    const item = (document.paths[path] ??= {});
    for (const method of route.methods) {
      Object.assign(item, { [method.toLowerCase()]: describeRoute(route, path, environment.payment) });
    }
  }
  return document;
}

function describeRoute(
  route: PaidRoute,
  path: string,
  { assetDecimals, assetSymbol }: DocsParts['environment']['payment'],
): OpenAPIObject['paths'][string]['get'] {
  const price = `${formatTokenAmount(route.priceBaseUnits, assetDecimals)} ${assetSymbol}`;
  const text = { schema: { type: 'string' } } as const;
  return {
    summary: `${route.description} (${price})`,
    description: `Costs ${price}.`,
    security: [{}, { payment: [] }],
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
        name: name ?? '',
        in: 'path' as const,
        required: true,
        ...text,
      })),
      {
        name: 'Idempotency-Key',
        in: 'header',
        description: 'A repeat with the same key gets the same answer.',
        ...text,
      },
    ],
    responses: {
      '200': { description: 'What was paid for.', content: { [route.mimeType]: {} } },
      '402': {
        description: 'The payment challenge; with `error` where a proof was refused.',
        headers: { 'X-Payment-Failure': { description: 'Why a proof was refused.', ...text } },
        content: { 'application/json': { schema: { $ref: '#/components/schemas/PaymentChallenge' } } },
      },
      ...Object.fromEntries(PROBLEMS.map(([status, description]) => [status, problem(description)])),
    },
    'x-payment': { priceBaseUnits: route.priceBaseUnits.toString(), assetSymbol },
  } as OpenAPIObject['paths'][string]['get'];
}

const PROBLEMS = [
  ['400', 'The Idempotency-Key or the path is not valid.'],
  ['409', 'The payment is being answered, or belongs to another request.'],
  ['410', 'The payment was spent and its answer was not kept.'],
  ['503', 'The payment cannot be checked now. Do not pay again.'],
] as const;

function problem(description: string): object {
  return {
    description,
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}
