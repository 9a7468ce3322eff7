import { toJsonSchema } from '@langchain/core/utils/json_schema';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { asSchema } from 'ai';
import { z } from 'zod';

import { createHostileOperations } from '../../test/hostile-operations.js';
import { AgentKit } from '../agent-kit.js';
import { CATALOG } from '../operations/catalog.js';
import { createAiSdkTools } from './ai-sdk.js';
import { createLangChainTools } from './langchain.js';
import { createMcpServer } from './mcp.js';
import type { ToolOptions } from './run-operation.js';

// The kit sends nothing to the chain until an operation runs.
const kit = new AgentKit(`0x${'11'.repeat(32)}`, 'offline', {
  rpcUrl: 'http://127.0.0.1:1',
  plugins: [createHostileOperations()],
});

interface Offer {
  name: string;
  description: string;
  readOnly: boolean;
  input: object;
}

/** What a model sees of the inputs, without the version of the schema language. */
const shown = (schema: object) => ({ ...schema, $schema: undefined });

async function offerLangChain(options: ToolOptions): Promise<Offer[]> {
  return createLangChainTools(kit, options).map((tool) => ({
    name: tool.name,
    description: tool.description,
    readOnly: (tool as unknown as { metadata: { readOnly: boolean } }).metadata.readOnly,
    input: shown(toJsonSchema(tool.schema)),
  }));
}

async function offerMcp(options: ToolOptions): Promise<Offer[]> {
  const server = createMcpServer(kit, options);
  const client = new Client({ name: 'spec', version: '1' });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(ours), client.connect(theirs)]);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name, description = '', inputSchema, annotations }) => {
    expect(annotations).toMatchObject({
      destructiveHint: !annotations?.readOnlyHint,
      idempotentHint: annotations?.readOnlyHint,
      openWorldHint: true,
    });
    return { name, description, readOnly: annotations?.readOnlyHint === true, input: shown(inputSchema) };
  });
}

async function offerAiSdk(options: ToolOptions): Promise<Offer[]> {
  const tools = Object.entries(createAiSdkTools(kit, options));
  return Promise.all(
    tools.map(async ([name, { description = '', inputSchema, needsApproval, metadata }]) => {
      expect(needsApproval).toBe(metadata?.['readOnly'] === false);
      return {
        name,
        description,
        readOnly: metadata?.['readOnly'] === true,
        input: shown(await asSchema(inputSchema).jsonSchema),
      };
    }),
  );
}

describe.each([
  ['LangChain', offerLangChain],
  ['MCP', offerMcp],
  ['the AI SDK', offerAiSdk],
])('%s', (_name, offer) => {
  const operations = kit.operations();

  it('has a tool for every operation, with its own name, inputs and kind', async () => {
    const expected = operations.map(({ name, description, readOnly, input }) => ({
      name,
      description,
      readOnly,
      input: shown(z.toJSONSchema(input.strict(), { io: 'input' })),
    }));
    expect(await offer({})).toEqual(expected);
  });

  it('has a tool that plans each write on request, with its inputs, marked as read-only', async () => {
    const [all, bare] = [await offer({ plans: 'show' }), await offer({ plans: 'none' })];
    expect(all.slice(0, bare.length)).toEqual(bare);
    const writes = bare.filter(({ readOnly }) => !readOnly);
    const names = writes.map(({ name }) => `plan${name.charAt(0).toUpperCase()}${name.slice(1)}`);
    const plans = all.slice(bare.length);
    expect(plans.map(({ name }) => name)).toEqual(names);
    expect(plans.map(({ input }) => input)).toEqual(writes.map(({ input }) => input));
    expect(plans.every(({ readOnly, description }) => readOnly && /sends nothing/.test(description))).toBe(true);
  });

  it('has executePlan only on request, marked as a write', async () => {
    const [all, more] = [await offer({ plans: 'show' }), await offer({ plans: 'execute' })];
    expect(more.slice(0, -1)).toEqual(all);
    expect(more.at(-1)).toMatchObject({
      name: 'executePlan',
      readOnly: false,
      input: { required: ['planId', 'summary'], additionalProperties: false },
    });
  });

  it('has only the reads on request', async () => {
    const reads = operations.filter(({ readOnly }) => readOnly).map(({ name }) => name);
    const offered = await offer({ readOnly: true, plans: 'execute' });
    expect(offered.map(({ name }) => name)).toEqual(reads);
    expect(offered.every(({ readOnly }) => readOnly)).toBe(true);
  });
});

describe('the catalog', () => {
  it.each(CATALOG.map((operation) => [operation.name, operation] as const))(
    'explains the inputs of %s',
    (_n, operation) => {
      const { properties = {} } = z.toJSONSchema(operation.input, { io: 'input' });
      expect(operation.description.length).toBeGreaterThan(20);
      for (const property of Object.values(properties)) expect(property).toHaveProperty('description');
    },
  );
});
