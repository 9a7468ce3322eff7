import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { toOpenApiSchema } from '@tollgate/http';
import { AGENT_OPERATIONS } from '@tollgate/protocol';

import { AgentsFixture } from '../../../test/start-agents.js';

interface Described {
  paths: Record<string, Record<string, { security?: unknown; requestBody?: unknown; responses: object }>>;
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
}

describe('the document of agent jobs', () => {
  let agents: AgentsFixture;
  let document: Described;

  beforeAll(async () => {
    agents = await AgentsFixture.start();
    document = (await (await agents.call('/docs/jobs/openapi.json', null)).json()) as Described;
  });

  afterAll(() => agents.stop());

  const routesOf = (paths: object) =>
    Object.entries(paths)
      .filter(([path]) => path.startsWith('/agent/'))
      .flatMap(([path, item]) => Object.keys(item as object).map((method) => `${method.toUpperCase()} ${path}`))
      .sort();

  it('has every route that is served, and no other', () => {
    const served = SwaggerModule.createDocument(agents.gateway.app, new DocumentBuilder().build(), {
      standardSchemaConverter: toOpenApiSchema,
    });
    expect(routesOf(document.paths)).toEqual(routesOf(served.paths));
    expect(routesOf(document.paths).length).toBeGreaterThan(15);
  });

  it('states that each route needs a key', () => {
    expect(Object.keys(document.components.securitySchemes)).toEqual(['ApiKey']);
    for (const route of routesOf(document.paths)) {
      const [method = '', path = ''] = route.split(' ');
      expect(document.paths[path]![method.toLowerCase()]!.security).toEqual([{ ApiKey: [] }]);
    }
  });

  it('has the input of every operation', () => {
    for (const operation of AGENT_OPERATIONS) {
      expect(document.components.schemas[`AgentJobRequest.${operation}`]).toMatchObject({
        properties: { operation: { const: operation }, input: { type: 'object', additionalProperties: false } },
      });
    }
  });

  // Prevents: "Try it out" sends text that no route accepts.
  it('has examples that are accepted unchanged, except for the name of the wallet', async () => {
    const key = await agents.createKey(['submit']);
    const { content } = document.paths['/agent/jobs']!['post']!.requestBody as {
      content: Record<string, { examples: Record<string, { value: { wallet: string } }> }>;
    };
    const examples = Object.values(content['application/json']!.examples);
    expect(examples.map(({ value }) => value.wallet)).toEqual(['devnet', 'devnet', 'devnet']);
    for (const { value } of examples) expect((await agents.submit(key, { ...value, wallet: 'main' })).status).toBe(202);
  });

  // Prevents: a client that handles the documented responses gets an undocumented one.
  it.each([
    ['post', '/agent/jobs/{id}/retry', ''],
    ['post', '/agent/jobs/{id}/approve', '{}'],
    ['get', '/agent/webhooks/dead-letters', '?limit=0'],
  ])('documents the refusal of an invalid request to %s %s', async (method, path, sent) => {
    const key = await agents.createKey(['submit', 'read', 'operator']);
    const job = await agents.submitSample(key);
    const url = path.replace('{id}', job.id);
    const response =
      method === 'get' ? await agents.call(url + sent, key) : await agents.post(url, key, sent || undefined);
    expect(response.status).toBe(400);
    expect(document.paths[path]![method]!.responses).toHaveProperty('400');
  });

  it('has no dangling references', () => {
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(50);
    const missing = references.filter(([, name]) => document.components.schemas[name!] === undefined);
    expect(missing).toEqual([]);
  });
});
