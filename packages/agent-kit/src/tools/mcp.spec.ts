import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ElicitRequestSchema, type ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { parseEther, type Hex } from 'viem';

import { useChain, useMade } from '../../../client/test/set-up.js';
import { kitOf } from '../../test/create-funded-kit.js';
import { createHostileOperations, INSTRUCTION } from '../../test/hostile-operations.js';
import { sharedValidators } from '../../test/shared-validators.js';
import { createMcpServer, type McpServerOptions } from './mcp.js';

const RECEIVER: Hex = '0x00000000000000000000000000000000000000b3';

const chain = useChain();
const kit = useMade(() => kitOf(chain, 0, { plugins: [createHostileOperations()] }), beforeAll);

type Answer = () => ElicitResult | Promise<ElicitResult>;

async function connect(options: McpServerOptions = {}, answer?: Answer) {
  const server = createMcpServer(kit, options);
  const capabilities = answer ? { elicitation: {} } : {};
  const client = new Client({ name: 'spec', version: '1' }, { capabilities, jsonSchemaValidator: sharedValidators });
  const asked: string[] = [];
  if (answer) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message);
      return answer();
    });
  }
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(ours), client.connect(theirs)]);
  // From here on the client validates each answer against the schema of its tool.
  await client.listTools();
  return { client, asked };
}

const transfer = { name: 'transfer', arguments: { amount: '0.5', to: RECEIVER } };

describe('a write over MCP', () => {
  it('is sent once the person has confirmed its plan', async () => {
    const { client, asked } = await connect({}, () => ({ action: 'accept', content: { confirm: true } }));
    const result = await client.callTool(transfer);
    expect(result).toMatchObject({ isError: false, structuredContent: { status: 'success', amount: '0.5' } });
    expect(asked).toEqual([expect.stringMatching(/0\.5 SEI[^]*Send this\?$/)]);
    expect(await chain.balanceOf(RECEIVER)).toBe(parseEther('0.5'));
  });

  it.each<[string, Answer | undefined]>([
    ['declines', () => ({ action: 'decline' })],
    ['closes the form', () => ({ action: 'cancel' })],
    ['submits the form with a no', () => ({ action: 'accept', content: { confirm: false } })],
    ['submits an empty form', () => ({ action: 'accept' })],
    ['submits another form', () => ({ action: 'accept', content: { confirm: 'true' } })],
    ['has a client that breaks', () => Promise.reject(new Error('no window'))],
    ['has a client that cannot ask', undefined],
  ])('is not sent when the person %s', async (_name, answer) => {
    const before = await chain.nonceOf(kit.address);
    const { client } = await connect({}, answer);
    const result = await client.callTool(transfer);
    expect(result).toMatchObject({ isError: true, structuredContent: { status: 'declined', code: 'DECLINED' } });
    expect(await chain.nonceOf(kit.address)).toBe(before);
  });

  it('is not sent when the client cancels before the person answers', async () => {
    const before = await chain.nonceOf(kit.address);
    const calling = new AbortController();
    let agree = () => {};
    const agreed = new Promise<void>((resolve) => (agree = resolve));
    const { client } = await connect({}, async () => {
      calling.abort();
      await agreed;
      return { action: 'accept', content: { confirm: true } };
    });
    await expect(client.callTool(transfer, undefined, { signal: calling.signal })).rejects.toThrow();
    agree();
    await client.ping();
    expect(await chain.nonceOf(kit.address)).toBe(before);
  });

  it('calls the given confirm, even if it may send without it', async () => {
    const confirm = jest.fn(() => false);
    const { client } = await connect({ confirm, allowWrites: true });
    expect(await client.callTool(transfer)).toMatchObject({ structuredContent: { status: 'declined' } });
    expect(confirm).toHaveBeenCalledTimes(1);
  });
});

describe('a failure over MCP', () => {
  it.each([
    ['too large an amount', 'transfer', { amount: '1000000000', to: RECEIVER }, 'INSUFFICIENT_FUNDS'],
    ['an unknown token', 'getERC20Balance', { contractAddress: 'NOPE' }, 'UNKNOWN_TOKEN'],
    ['a foreign error', 'readNumber', {}, 'PROTOCOL_FAILED'],
  ])('is marked as one: %s', async (_name, name, input, code) => {
    const { client } = await connect({ allowWrites: true });
    const result = await client.callTool({ name, arguments: input });
    expect(result).toMatchObject({ isError: true, structuredContent: { status: 'failed', code } });
    expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(result.structuredContent) }]);
  });

  it.each([
    ['a misspelt field', { ...transfer.arguments, tokn: 'USDC' }],
    ['a missing field', { amount: '1' }],
    ['an invalid number', { amount: '1e18', to: RECEIVER }],
  ])('sends nothing for %s', async (_name, input) => {
    const before = await chain.nonceOf(kit.address);
    const { client } = await connect({ allowWrites: true });
    expect(await client.callTool({ name: 'transfer', arguments: input })).toMatchObject({ isError: true });
    expect(await chain.nonceOf(kit.address)).toBe(before);
  });
});

it('returns a hostile list to the client on one line, and reports what it cut', async () => {
  const { client } = await connect();
  const { content, structuredContent } = await client.callTool({ name: 'listHostile' });
  const [{ text }] = content as [{ text: string }];
  expect(structuredContent).toMatchObject({ status: 'success', truncated: true });
  expect(text).toContain(INSTRUCTION);
  expect(text).not.toMatch(/\n|\\n|\\u/);
});
