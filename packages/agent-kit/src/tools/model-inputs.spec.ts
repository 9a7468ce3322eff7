import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { z } from 'zod';

import { AgentKit } from '../agent-kit.js';
import { CATALOG } from '../operations/catalog.js';
import { parseInput, type Operation } from '../operations/define/operation.js';
import { createAiSdkTools } from './ai-sdk.js';
import { createLangChainTools } from './langchain.js';
import { createMcpServer } from './mcp.js';
import type { OperationRunner } from './run-operation.js';

const ADDRESS = '0x00000000000000000000000000000000000000A1';
const SAMPLES: Readonly<Record<string, unknown>> = {
  amount: '1.5',
  amountA: '1',
  amountB: '2',
  to: ADDRESS,
  spender: ADDRESS,
  contractAddress: ADDRESS,
  token: 'USDC',
  tokenA: 'USDC',
  tokenB: 'WSEI',
  fromToken: 'USDC',
  toToken: 'WSEI',
  symbol: 'USDC',
  tokenId: '7',
  positionId: '7',
  product: 'BTC-PERP',
  side: 'long',
  url: 'https://shop.example/goods',
  hash: `0x${'ab'.repeat(32)}`,
};

/** The inputs of an operation that may be left out, and the others. */
function inputsOf({ input }: Operation): { optional: string[]; required: Record<string, unknown> } {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input' });
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  return { optional, required: Object.fromEntries(required.map((name) => [name, SAMPLES[name]])) };
}

const WITH_OPTIONAL = (CATALOG as readonly Operation[]).filter((operation) => inputsOf(operation).optional.length > 0);

it('has operations with inputs that may be left out', () => {
  expect(WITH_OPTIONAL.length).toBeGreaterThan(8);
});

describe.each(WITH_OPTIONAL.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
  const { optional, required } = inputsOf(operation);
  const given = { ...required, ...Object.fromEntries(optional.map((field) => [field, null])) };

  it('takes null for what is left out', () => {
    expect(parseInput(operation, given)).toEqual(parseInput(operation, required));
    expect(Object.keys(parseInput(operation, given)).sort()).toEqual(Object.keys(required).sort());
    for (const field of Object.keys(required))
      expect(() => parseInput(operation, { ...required, [field]: null })).toThrow(field);
  });

  it('says so to a model, and takes it by every framework', async () => {
    const received: unknown[] = [];
    const kit: OperationRunner = {
      operations: () => CATALOG,
      read: async (_name, input) => (received.push(parseInput(operation, input)), {}),
      plan: async (_name, input) => {
        received.push(parseInput(operation, input));
        throw new Error('no plan');
      },
      execute: async () => ({ status: 'success' }),
    };
    const { properties = {} } = z.toJSONSchema(operation.input, { io: 'input' });
    for (const field of optional) expect(JSON.stringify(properties[field])).toMatch(/"type":("null"|\["\w+","null"\])/);

    await createLangChainTools(kit)
      .find((tool) => tool.name === name)!
      .invoke(given as never);
    const tool = createAiSdkTools(kit)[name]!;
    const parsed = (tool.inputSchema as unknown as z.ZodType).parse(given);
    await tool.execute!(parsed, { toolCallId: '1', messages: [], context: {} } as never);
    const server = createMcpServer(kit, { allowWrites: true });
    const client = new Client({ name: 'spec', version: '1' });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(ours), client.connect(theirs)]);
    await client.callTool({ name, arguments: given });
    await client.close();

    const expected = parseInput(operation, required);
    expect(received).toEqual([expected, expected, expected]);
  });
});

describe('an id', () => {
  const parse = (name: string, input: object) =>
    parseInput(
      CATALOG.find((operation) => operation.name === name)!,
      input,
    );

  it('may be a number', () => {
    const nft = { contractAddress: ADDRESS, to: ADDRESS };
    expect(parse('transferERC721', { ...nft, tokenId: 7 })).toEqual(parse('transferERC721', { ...nft, tokenId: '7' }));
    expect(parse('removeLiquidity', { positionId: 7 })).toEqual({ positionId: '7' });
    // As large as JavaScript has it exactly.
    expect(parse('removeLiquidity', { positionId: Number.MAX_SAFE_INTEGER })).toEqual({
      positionId: '9007199254740991',
    });
  });

  it.each([2 ** 53, 1e21, -1, 1.5, Number.NaN, true, null])('is not guessed from %p', (positionId) => {
    expect(() => parse('removeLiquidity', { positionId })).toThrow('positionId');
  });
});

describe('a private key', () => {
  const key = `0x${'11'.repeat(32)}`;
  const addressOf = (text: string) => new AgentKit(text, 'offline', { rpcUrl: 'http://127.0.0.1:1' }).address;

  it.each([`${key}\n`, `${key}\r\n`, ` ${key.slice(2)} `])('may end in a line break: %j', (text) => {
    expect(addressOf(text)).toBe(addressOf(key));
  });
});
