import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';

import { createPublicClient, http, parseEther, type Hex } from 'viem';

import { runMcp } from '../../packages/agent-kit/src/cli/run-mcp.js';
import { MCP_PROGRAM } from '../../packages/agent-kit/test/start-mcp-client.js';
import { startChain, type DevnetWithProtocols } from '../../tools/devnet/chain/chain.js';
import { waitFor } from '../harness/retry.js';

const KEY = 'a-key-that-nobody-guesses';
const RECEIVER: Hex = '0x00000000000000000000000000000000000000b7';
const TRANSFER = { name: 'transfer', arguments: { amount: '0.25', to: RECEIVER } };

interface Told {
  tools?: string[];
  structuredContent?: Record<string, unknown>;
  asked?: string[];
  refused?: string;
}

let chain: DevnetWithProtocols;
let directory: string;
let env: Record<string, string>;
let url: string;
let stop = (): void => undefined;
let served: Promise<number>;

beforeAll(async () => {
  chain = await startChain({ protocols: true });
  directory = await mkdtemp(join(tmpdir(), 'mcp-clients-'));
  const { privateKey } = chain.accounts[2]!;
  env = { RPC_URL: chain.rpcUrl, WALLET_PRIVATE_KEY: privateKey, TOLLGATE_STATE_DIR: directory };
  let stderr = '';
  const terminal = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: (line: string) => (stderr += line) };
  const stopRequest = new Promise<void>((ended) => (stop = ended));
  served = runMcp({ http: '0', unknown: [] }, { ...env, MCP_KEY: KEY }, { ...terminal, stopRequest });
  await waitFor('the server', () => stderr !== '');
  url = /connect to (\S+)\./.exec(stderr)?.[1] ?? '';
});

afterAll(async () => {
  stop();
  await served;
  await rm(directory, { recursive: true });
  await chain.stop();
});

async function ask(options: object): Promise<Told> {
  const script = resolve('test/interop/clients/mcp-v2.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(options)]);
  return JSON.parse(stdout) as Told;
}

const balance = () => createPublicClient({ transport: http(chain.rpcUrl) }).getBalance({ address: RECEIVER });

// Clients of the first version are tried beside the code.
describe('a client of the second version of MCP’s SDK', () => {
  it.each([
    ['streamable HTTP with the key', () => ({ url, key: KEY })],
    ['stdio', () => ({ command: process.execPath, args: [MCP_PROGRAM], env })],
  ])('lists and calls the kit’s tools over %s, and asks its person', async (_name, connection) => {
    const before = await balance();
    const told = await ask({ ...connection(), tool: TRANSFER });
    expect(told.tools).toEqual(expect.arrayContaining(['getAccount', 'transfer', 'swap']));
    expect(told.structuredContent).toMatchObject({ status: 'success', amount: '0.25' });
    expect(told.asked).toEqual([expect.stringContaining('0.25 SEI')]);
    expect((await balance()) - before).toBe(parseEther('0.25'));
  });

  it('is refused with another key', async () => {
    const told = await ask({ url, key: 'another-key-that-nobody-guesses', tool: TRANSFER });
    expect(told.refused).toContain('Send the key as bearer token.');
  });
});
