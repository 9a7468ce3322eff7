import { PassThrough } from 'node:stream';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { parseEther, type Hex } from 'viem';

import { waitFor } from '../../../../test/harness/retry.js';
import { useChain, useFolder } from '../../../client/test/set-up.js';
import { sharedValidators } from '../../test/shared-validators.js';
import { createMcpCommand } from './mcp-command.js';
import { runMcp } from './run-mcp.js';

const KEY = 'a-key-that-nobody-guesses';
const RECEIVER: Hex = '0x00000000000000000000000000000000000000b3';

/** The command as it is typed, in this process. */
async function serve(args: string[], env: Record<string, string>) {
  let stderr = '';
  let stop = (): void => undefined;
  const stopRequest = new Promise<void>((resolve) => (stop = resolve));
  let code: number | undefined;
  const command = createMcpCommand(async (words) => {
    const terminal = { stdin: new PassThrough(), stdout: new PassThrough(), stopRequest };
    code = await runMcp(words, env, { ...terminal, stderr: (line) => (stderr += `${line}\n`) });
  });
  const ended = command.parseAsync(args, { from: 'user' });
  await waitFor('the server', () => stderr !== '');
  const url = /connect to (\S+)\./.exec(stderr)?.[1] ?? '';
  return { url, stderr, stop: async () => (stop(), await ended, code), code: async () => (await ended, code) };
}

describe('the MCP server over HTTP', () => {
  const chain = useChain({ protocols: true });
  const directory = useFolder(beforeAll, afterAll);
  let served: Awaited<ReturnType<typeof serve>>;
  let env: Record<string, string>;

  beforeAll(async () => {
    const { privateKey } = chain.accounts[2]!;
    env = { RPC_URL: chain.rpcUrl, WALLET_PRIVATE_KEY: privateKey, TOLLGATE_STATE_DIR: directory(), MCP_KEY: KEY };
    served = await serve(['--http', '0'], env);
  });

  afterAll(async () => {
    expect(await served.stop()).toBe(0);
  });

  async function connect(answer?: 'accept' | 'decline', key = KEY) {
    const requestInit = { headers: { Authorization: `Bearer ${key}` } };
    const transport = new StreamableHTTPClientTransport(new URL(served.url), { requestInit });
    const capabilities = answer ? { elicitation: {} } : {};
    const client = new Client({ name: 'spec', version: '1' }, { capabilities, jsonSchemaValidator: sharedValidators });
    if (answer)
      client.setRequestHandler(ElicitRequestSchema, () => ({
        action: answer,
        content: { confirm: answer === 'accept' },
      }));
    await client.connect(transport);
    return client;
  }

  const transfer = { name: 'transfer', arguments: { amount: '0.25', to: RECEIVER } };

  it('serves several clients at once, each with its own person', async () => {
    const [asking, other, silent] = [await connect('accept'), await connect('decline'), await connect()];
    const { structuredContent } = await asking.callTool({ name: 'getAccount' });
    expect(structuredContent).toMatchObject({ status: 'success', address: chain.accounts[2]!.address });
    const before = await chain.balanceOf(RECEIVER);
    const results = await Promise.all([asking, other, silent].map((client) => client.callTool(transfer)));
    expect(results.map(({ structuredContent: shown }) => (shown as { status: string }).status)).toEqual([
      ...['success', 'declined', 'declined'],
    ]);
    expect((await chain.balanceOf(RECEIVER)) - before).toBe(parseEther('0.25'));
    for (const client of [asking, other, silent]) await client.close();
  });

  it.each([
    ['no key', {}],
    ['another key', { Authorization: 'Bearer another-key-that-nobody-guesses' }],
    ['the beginning of the key', { Authorization: `Bearer ${KEY.slice(0, -1)}` }],
    ['another scheme', { Authorization: `Basic ${KEY}` }],
  ])('answers nobody who has %s', async (_what, headers) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const sent = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers };
    const response = await fetch(served.url, { method: 'POST', headers: sent as Record<string, string>, body });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await response.text()).not.toContain('tools":');
  });

  it('knows no session of a client that has ended it, and no other path', async () => {
    const headers = { Authorization: `Bearer ${KEY}`, 'Mcp-Session-Id': 'none', Accept: 'text/event-stream' };
    expect((await fetch(served.url, { headers })).status).toBe(404);
    expect((await fetch(`${served.url}/more`, { headers })).status).toBe(404);
  });

  it.each([
    ['no key', { MCP_KEY: '' }, ['--http', '0'], 'needs MCP_KEY'],
    ['a short key', { MCP_KEY: 'short' }, ['--http', '0'], 'needs MCP_KEY'],
    ['no port', {}, ['--http', 'x'], '--http must be a port'],
    ['an unknown toolset', {}, ['--toolsets', 'read,all'], '--toolsets has all, which is none of read,'],
  ])('does not start with %s', async (_what, more, args, problem) => {
    const refused = await serve(args, { ...env, ...(more as Record<string, string>) });
    expect(await refused.code()).toBe(2);
    expect(refused.stderr).toContain(problem);
    expect(refused.stderr).not.toContain(KEY);
  });

  it('does not start at a port that is taken', async () => {
    const refused = await serve(['--http', new URL(served.url).port], env);
    expect(await refused.code()).toBe(2);
    expect(refused.stderr).toContain('cannot listen at 127.0.0.1');
  });
});
