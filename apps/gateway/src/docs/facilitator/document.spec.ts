import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { toOpenApiSchema } from '@tollgate/http';

import { borrowRedis, type BorrowedRedis } from '../../../../../test/harness/stack/borrow-redis.js';
import { answerJson, createRoute, PAY_TO, startGateway, type RunningGateway } from '../../../test/start-gateway.js';

interface Schema {
  $ref?: string;
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
}

interface Described {
  tags: { name: string }[];
  paths: Record<string, Record<string, { security?: unknown; responses: Record<string, { content?: object }> }>>;
  components: { schemas: Record<string, Schema> };
}

describe('the document of the facilitator', () => {
  let redis: BorrowedRedis;
  let gateway: RunningGateway;
  let document: Described;

  beforeAll(async () => {
    redis = await borrowRedis();
    gateway = await startGateway(redis.url, [createRoute(() => answerJson('fine'))], {
      FACILITATOR: 'true',
      FACILITATOR_PAY_TO: PAY_TO,
      PUBLIC_URL: 'https://api.example',
      SIGNED_PAYMENTS: 'true',
      VERIFY_DEADLINE_MS: '200',
      VERIFY_RETRY_MS: '100',
    });
    document = (await (await fetch(`${gateway.url}/docs/facilitator/openapi.json`)).json()) as Described;
  });

  afterAll(async () => {
    await gateway.stop();
    await redis.stop();
  });

  const routesOf = (paths: object) =>
    Object.entries(paths)
      .filter(([path]) => path.startsWith('/facilitator/'))
      .flatMap(([path, item]) => Object.keys(item as object).map((method) => `${method.toUpperCase()} ${path}`))
      .sort();

  it('has every route that is served, and no other', () => {
    const served = SwaggerModule.createDocument(gateway.app, new DocumentBuilder().build(), {
      standardSchemaConverter: toOpenApiSchema,
    });
    expect(routesOf(document.paths)).toEqual(routesOf(served.paths));
    expect(routesOf(document.paths)).toHaveLength(4);
    expect(document.tags.map(({ name }) => name)).toContain('Facilitator');
  });

  it('states which routes accept an API key, and that it is optional', () => {
    const security = [{}, { ApiKey: [] }];
    for (const path of ['verify', 'settle']) {
      expect(document.paths[`/facilitator/${path}`]!['post']!.security).toEqual(security);
    }
  });

  it('has no dangling references', () => {
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)];
    const missing = references.filter(([, name]) => document.components.schemas[name!] === undefined);
    expect(missing).toEqual([]);
  });

  /** The fields of a response that its schema lacks, and those that are missing in the response. */
  function findFaults(schema: Schema, value: unknown, path = '$'): string[] {
    if (schema.$ref !== undefined) {
      return findFaults(document.components.schemas[schema.$ref.split('/').at(-1)!]!, value, path);
    }
    if (schema.anyOf !== undefined) {
      const tries = schema.anyOf.map((one) => findFaults(one, value, path));
      return tries.find((faults) => faults.length === 0) ?? tries[0]!;
    }
    if (schema.type === 'array') {
      const items = value as unknown[];
      return items.flatMap((item, index) => findFaults(schema.items ?? {}, item, `${path}[${index}]`));
    }
    if (schema.properties === undefined) return [];
    const fields = value as Record<string, unknown>;
    const missing = (schema.required ?? []).filter((name) => !(name in fields)).map((name) => `${path} lacks ${name}`);
    const wrong = Object.entries(fields).flatMap(([name, field]) => {
      const known = schema.properties![name];
      return known === undefined ? [`${path} has ${name}`] : findFaults(known, field, `${path}.${name}`);
    });
    return [...missing, ...wrong];
  }

  const askFor = (network: string) => ({
    x402Version: 2,
    paymentPayload: {},
    paymentRequirements: {
      scheme: 'exact',
      network,
      amount: '1000',
      maxTimeoutSeconds: 60,
      extra: {},
      asset: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
      payTo: PAY_TO,
    },
  });

  it.each<[string, string, number, unknown]>([
    ['get', 'supported', 200, undefined],
    ['get', 'discovery/resources', 200, undefined],
    ['get', 'discovery/resources?limit=0', 400, undefined],
    ['post', 'verify', 200, askFor('base')],
    ['post', 'settle', 200, askFor('base')],
    ['post', 'verify', 400, {}],
    ['post', 'settle', 400, {}],
  ])('documents the response of %s %s with %s', async (method, path, status, body) => {
    const headers = { 'Content-Type': 'application/json' };
    const init = body === undefined ? {} : { headers, body: JSON.stringify(body) };
    const response = await fetch(`${gateway.url}/facilitator/${path}`, { method: method.toUpperCase(), ...init });
    expect(response.status).toBe(status);
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
    const { content } = document.paths[`/facilitator/${path.split('?')[0]!}`]![method]!.responses[status]!;
    const { schema } = (content as Record<string, { schema: Schema }>)[type]!;
    expect(findFaults(schema, await response.json())).toEqual([]);
  });
});
