import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';

import { createHostileOperations } from '../../test/hostile-operations.js';
import { AgentKit } from '../agent-kit.js';
import { CATALOG, toolsetOf } from '../operations/catalog.js';
import { TOOLSETS } from '../operations/toolsets.js';
import type { SpendingPolicy } from '../policy/policy.js';
import { createMcpServer } from './mcp.js';
import type { ToolOptions } from './run-operation.js';

const createKit = (policy: SpendingPolicy = {}, plugins = [createHostileOperations()]) =>
  new AgentKit(`0x${'11'.repeat(32)}`, 'offline', { rpcUrl: 'http://127.0.0.1:1', policy, plugins });

/** As an MCP client gets it. */
async function list(kit: AgentKit, options: ToolOptions = {}) {
  const server = createMcpServer(kit, options);
  const client = new Client({ name: 'spec', version: '1' });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(ours), client.connect(theirs)]);
  const listed = await client.listTools();
  await client.close();
  return { names: listed.tools.map(({ name }) => name), bytes: Buffer.byteLength(JSON.stringify(listed)) };
}

describe('the list of tools', () => {
  it('has every operation in at most 25 kB', async () => {
    const { names, bytes } = await list(createKit({}, []));
    expect(names).toEqual(CATALOG.map(({ name }) => name));
    expect(bytes).toBeLessThanOrEqual(25_000);
  });

  it.each(TOOLSETS)('has only those of %s on request', async (toolset) => {
    const kit = createKit();
    const { names } = await list(kit, { toolsets: [toolset] });
    expect(names.length).toBeGreaterThan(0);
    expect(names).toEqual(
      kit
        .operations()
        .map(({ name }) => name)
        .filter((name) => toolsetOf(name) === toolset),
    );
  });

  it('has no write that the policy refuses, nor a plan of it', async () => {
    const kit = createKit({ operations: ['swap', 'payForResource'] });
    const reads = kit.operations().filter(({ readOnly }) => readOnly);
    const { names } = await list(kit, { plans: 'execute' });
    expect(names.filter((name) => !reads.some((read) => read.name === name))).toEqual([
      ...['swap', 'payForResource', 'planSwap', 'planPayForResource', 'executePlan'],
    ]);
    expect((await list(kit, { toolsets: ['swap'] })).names).toEqual(['getSwapQuote', 'swap']);
    expect((await list(createKit({ operations: [] }), { toolsets: ['swap'] })).names).toEqual(['getSwapQuote']);
  });
});
