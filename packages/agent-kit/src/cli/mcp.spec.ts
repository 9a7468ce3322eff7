import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';

import { parseEther, type Hex } from 'viem';
import { z } from 'zod';

import { useChain, useFolder } from '../../../client/test/set-up.js';
import { MCP_PROGRAM, startMcpClient, startMcpProgram } from '../../test/start-mcp-client.js';
import { CATALOG } from '../operations/catalog.js';
import type { ReadOperation } from '../operations/define/operation.js';
import { nameListField } from '../tools/run-operation.js';
import { runMcp } from './run-mcp.js';

const RECEIVER: Hex = '0x00000000000000000000000000000000000000b2';

const chain = useChain({ protocols: true });
const stateDirectory = useFolder(beforeAll, afterAll);
const open: { close(): Promise<unknown> }[] = [];

beforeAll(async () => {
  const { rpcUrl, accounts } = chain;
  await writeFile(join(stateDirectory(), 'dev.json'), JSON.stringify({ rpcUrl, accounts }));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const key = () => chain.accounts[1]!.privateKey;

/** The server on the devnet of this spec. */
async function start(args: string[], answer?: 'accept' | 'decline', env: Record<string, string> = {}) {
  const started = await startMcpClient(args, { TOLLGATE_STATE_DIR: stateDirectory(), ...env }, answer);
  open.push(started);
  return started;
}

const transfer = { name: 'transfer', arguments: { amount: '0.25', to: RECEIVER } };

interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The program without a client; `then` decides how it ends. */
async function run(
  args: string[],
  env: NodeJS.ProcessEnv,
  then?: (child: ReturnType<typeof spawn>) => void,
): Promise<Run> {
  const child = spawn(process.execPath, [MCP_PROGRAM, ...args], { env: { PATH: process.env['PATH'], ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
    if (stderr.includes('Serving MCP')) then?.(child);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

describe('the MCP server', () => {
  it('serves the devnet that runs, with every operation, and reports it on stderr only', async () => {
    const started = await startMcpProgram([], { TOLLGATE_STATE_DIR: stateDirectory() });
    open.push(started);
    const { client, faults, stderr } = started;
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names.slice(0, CATALOG.length)).toEqual(CATALOG.map(({ name }) => name));
    expect(names.slice(CATALOG.length).filter((name) => !/^plan[A-Z]/.test(name))).toEqual([]);
    expect(client.getServerVersion()).toMatchObject({ name: 'tollgate' });
    const { structuredContent } = await client.callTool({
      name: 'getERC20Balance',
      arguments: { contractAddress: 'USDC' },
    });
    expect(structuredContent).toMatchObject({ status: 'success', token: { ticker: 'USDC' } });
    expect(stderr()).toContain(`Serving MCP for ${chain.accounts[0]!.address} on the devnet; asks before it sends.`);
    expect(faults).toEqual([]);
  });

  it('answers every read in the form it promises', async () => {
    const { client } = await start(['--read-only']);
    const { tools } = await client.listTools();
    const reads = tools.filter(({ inputSchema }) => (inputSchema.required ?? []).length === 0);
    expect(reads.length).toBeGreaterThan(1);
    for (const { name } of reads) {
      const { structuredContent } = await client.callTool({ name });
      expect({ name, structuredContent }).toMatchObject({ name, structuredContent: { status: 'success' } });
      const { output } = CATALOG.find((operation) => operation.name === name) as ReadOperation;
      const shown = structuredContent as Record<string, unknown>;
      output.parse(output instanceof z.ZodArray ? shown[nameListField(name)] : shown);
    }
  });

  it('offers only reads when asked to', async () => {
    const { client, stderr } = await start(['--read-only']);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(CATALOG.filter(({ readOnly }) => readOnly).map(({ name }) => name));
    expect(await client.callTool(transfer)).toMatchObject({ isError: true });
    expect(stderr()).toContain('reads only');
  });

  it('refuses to send for a client that cannot ask', async () => {
    const { client } = await start([]);
    const before = await chain.balanceOf(RECEIVER);
    const result = await client.callTool(transfer);
    expect(result).toMatchObject({ isError: true, structuredContent: { status: 'declined', code: 'DECLINED' } });
    expect(await chain.balanceOf(RECEIVER)).toBe(before);
  });

  it('sends a transaction that the person at the client approved', async () => {
    const { client, asked } = await start([], 'accept');
    const before = await chain.balanceOf(RECEIVER);
    const result = await client.callTool(transfer);
    expect(result).toMatchObject({ isError: false, structuredContent: { status: 'success' } });
    expect(asked).toEqual([expect.stringContaining(RECEIVER)]);
    expect((await chain.balanceOf(RECEIVER)) - before).toBe(parseEther('0.25'));
  });

  it('sends without asking when started so, with the account of a key file', async () => {
    const keyFile = join(stateDirectory(), 'key');
    await writeFile(keyFile, `${key()}\n`);
    const env = { RPC_URL: chain.rpcUrl, WALLET_PRIVATE_KEY_FILE: keyFile };
    const { client, asked, stderr } = await start(['--yes'], 'decline', env);
    const before = await chain.balanceOf(RECEIVER);
    // All run together: each uses a nonce of its own.
    const results = await Promise.all([
      client.callTool(transfer),
      client.callTool(transfer),
      client.callTool(transfer),
    ]);
    for (const result of results) expect(result.structuredContent).toMatchObject({ status: 'success' });
    expect(asked).toEqual([]);
    expect((await chain.balanceOf(RECEIVER)) - before).toBe(parseEther('0.75'));
    expect(stderr()).toContain(`for ${chain.accounts[1]!.address} on 127.0.0.1`);
    expect(stderr()).not.toContain(key().slice(2, 20));
  });

  it('can be started by npm, whose banner stays away', async () => {
    const child = spawn('npm', ['run', 'mcp', '--silent', '--', '--read-only'], {
      env: { ...process.env, TOLLGATE_STATE_DIR: stateDirectory() },
    });
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    child.stdin.write(`${JSON.stringify(ping)}\n`);
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk);
      child.stdin.end();
    });
    const [code] = (await once(child, 'close')) as [number | null];
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${JSON.stringify({ result: {}, jsonrpc: '2.0', id: 1 })}\n` });
  });
});

describe('the MCP program', () => {
  const devnet = () => ({ TOLLGATE_STATE_DIR: stateDirectory() });

  it('ends with its client', async () => {
    const end = await run([], devnet(), (child) => child.stdin?.end());
    expect(end).toMatchObject({ code: 0, stdout: '' });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('ends with %s', async (signal) => {
    const end = await run([], devnet(), (child) => child.kill(signal));
    expect(end).toMatchObject({ code: 0, stdout: '' });
  });

  it('explains itself', async () => {
    expect(await run(['--help'], devnet())).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^Usage: /),
    });
  });

  it.each(['has none', 'has one that was killed'])(
    'names every missing setting at once: the folder %s',
    async (what) => {
      const folder = join(stateDirectory(), what === 'has none' ? 'nowhere' : 'killed');
      if (what !== 'has none') {
        await mkdir(folder);
        await copyFile(join(stateDirectory(), 'dev.json'), join(folder, 'dev.json'));
        await writeFile(join(folder, 'dev.pid'), `${2 ** 30} 12345`);
      }
      const end = await run(['--nonsense'], { TOLLGATE_STATE_DIR: folder });
      expect(end).toMatchObject({ code: 2, stdout: '' });
      const rpc = `RPC_URL is not set, and no npm run dev runs in ${folder}`;
      for (const part of ['--nonsense', rpc, 'WALLET_PRIVATE_KEY is not set']) expect(end.stderr).toContain(part);
      expect(end.stderr.trim().split('\n')).toHaveLength(1);
    },
  );

  it('does not repeat a key that is malformed', async () => {
    let stderr = '';
    const code = await runMcp(
      { unknown: [] },
      { ...devnet(), RPC_URL: chain.rpcUrl, WALLET_PRIVATE_KEY: `${key()}ff` },
      {
        stdin: new PassThrough(),
        stdout: new PassThrough(),
        stopRequest: new Promise(() => undefined),
        stderr: (line) => (stderr += line),
      },
    );
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Invalid private key') });
    expect(stderr).not.toContain(key().slice(2, 20));
  });
});
