import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { encodeJsonHeader } from '@tollgate/protocol';

import { DEVNET_CONTRACTS } from '../../packages/agent-kit/src/registry/devnet-contracts.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import type { DevState } from '../../tools/devnet/dev-state.js';
import { startChild, type Child } from '../../tools/devnet/processes/child-process.js';
import { waitFor } from '../harness/retry.js';
import { readDescendants, waitUntilGone } from '../harness/stack/processes.js';

const STARTS_WITHIN_MS = 120_000;

let folder: string;
const children: Child[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-'));
});

afterEach(async () => {
  for (const child of children.splice(0)) await child.end('SIGTERM', 30_000);
  rmSync(folder, { recursive: true, force: true });
});

async function runScript(script: 'dev' | 'demo', settings: NodeJS.ProcessEnv = {}): Promise<Child> {
  const { PATH, HOME } = process.env;
  const child = await startChild({
    name: `npm run ${script}`,
    command: 'npm',
    args: ['run', script],
    env: { PATH, HOME, TOLLGATE_STATE_DIR: folder, ...settings },
  });
  children.push(child);
  return child;
}

async function waitForState(child: Child, path = join(folder, 'dev.json')): Promise<DevState> {
  const deadlineMs = Date.now() + STARTS_WITHIN_MS;
  while (!existsSync(path)) {
    if (child.hasExited() || Date.now() > deadlineMs) throw new Error(`no ${path}:\n${child.logs()}`);
    await sleep(50);
  }
  return JSON.parse(readFileSync(path, 'utf8')) as DevState;
}

const askWeather = async (state: DevState) => (await fetch(`${state.baseUrl}/api/weather`)).status;

/** Payments that the payer only signs are settled by the devnet's relayer. */
async function payBySignature(state: DevState): Promise<number> {
  const { signature, authorization } = await signAuthorization(state, state.accounts[0]!, { value: '1000' });
  const payment = { x402Version: 1, scheme: 'exact', network: state.network, payload: { signature, authorization } };
  const headers = { 'X-Payment': encodeJsonHeader(payment) };
  return (await fetch(`${state.baseUrl}/api/weather`, { headers })).status;
}

describe('npm run dev', () => {
  it('writes all addresses to dev.json, and leaves neither process nor file behind after Ctrl-C', async () => {
    const dev = await runScript('dev');
    const state = await waitForState(dev);
    expect(Object.keys(state)).toEqual([
      'baseUrl',
      'rpcUrl',
      'redisUrl',
      'chainId',
      'network',
      'asset',
      'payTo',
      'explorerUrl',
      'accounts',
      'agent',
      'operator',
      'contracts',
    ]);
    expect(state.contracts).toEqual(DEVNET_CONTRACTS);
    expect(Object.keys(state.accounts[0] ?? {})).toEqual(['address', 'privateKey']);
    expect(statSync(join(folder, 'dev.json')).mode & 0o777).toBe(0o600);
    expect(await askWeather(state)).toBe(402);
    expect(await payBySignature(state)).toBe(200);

    const processes = readDescendants(dev.pid);
    // At least the dev process, redis, anvil, verifier, agent worker and gateway.
    expect(processes.length).toBeGreaterThanOrEqual(6);
    dev.signal('SIGINT');
    await dev.exited;
    expect(await waitUntilGone(processes)).toEqual([]);
    // The book, secrets, and a wallet to click with stay for the next time.
    const kept = ['agent-secret', 'book', 'book-signing-key', 'challenge-secret', 'test-wallet.js'];
    expect(readdirSync(folder)).toEqual(kept);
  }, 180_000);

  it('reports all wrong settings at once, of every service, before it starts any', async () => {
    const dev = await runScript('dev', { MAX_IN_FLIGHT: '0', LANE_MAX_IN_FLIGHT: '0', LEASE_MS: '0' });
    expect((await dev.exited).code).toBe(1);
    for (const wrong of [/ MAX_IN_FLIGHT .*\(verifier\)/, /LANE_MAX_IN_FLIGHT .*worker\)/, /LEASE_MS .*\(gateway\)/]) {
      expect(dev.logs()).toMatch(wrong);
    }
    expect(dev.logs()).not.toContain('is ready at');
  }, 180_000);

  it('runs twice in one folder, each with addresses and a state of its own', async () => {
    const first = await runScript('dev');
    const firstState = await waitForState(first);
    const { port } = new URL(firstState.baseUrl);
    const second = await runScript('dev', { PORT: port, PUBLIC_URL: `http://localhost:${port}` });
    const secondState = await waitForState(second, join(folder, 'dev-2', 'dev.json'));
    for (const name of ['baseUrl', 'rpcUrl', 'redisUrl', 'explorerUrl'] as const) {
      expect(secondState[name]).not.toBe(firstState[name]);
    }
    // The second devnet's PUBLIC_URL leads to the first one.
    await waitFor('a warning', () => second.logs().includes(`PUBLIC_URL names port ${port}, which was taken`));
    first.signal('SIGINT');
    await first.exited;
    expect(await askWeather(secondState)).toBe(402);
  }, 240_000);

  it('stops everything when npm is killed', async () => {
    const dev = await runScript('dev');
    await waitForState(dev);
    const processes = readDescendants(dev.pid);
    dev.signal('SIGKILL');
    expect(await waitUntilGone(processes)).toEqual([]);
    expect(existsSync(join(folder, 'dev.json'))).toBe(false);
  }, 180_000);

  it('leaves no process behind when it is killed itself', async () => {
    const dev = await runScript('dev');
    await waitForState(dev);
    const processes = readDescendants(dev.pid);
    process.kill(Number(readFileSync(join(folder, 'dev.pid'), 'utf8').split(' ')[0]), 'SIGKILL');
    expect(await waitUntilGone(processes)).toEqual([]);
  }, 180_000);

  it('reports which process died, and stops the others', async () => {
    const dev = await runScript('dev');
    const state = await waitForState(dev);
    const processes = readDescendants(dev.pid);
    const { pid } = await findProcess(processes, 'apps/verifier/main.js');
    process.kill(pid, 'SIGKILL');
    expect((await dev.exited).code).toBe(1);
    expect(dev.logs()).toContain('verifier was killed by SIGKILL');
    expect(await waitUntilGone(processes)).toEqual([]);
    await expect(askWeather(state)).rejects.toThrow();
  }, 180_000);
});

async function findProcess(pids: number[], argument: string): Promise<{ pid: number }> {
  for (const pid of pids) {
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(argument)) return { pid };
  }
  throw new Error(`no process runs ${argument}`);
}

it.each(['setup', 'run/dev', 'run/demo', 'run/stop'])(
  'scripts/%s.mjs --help describes it, and does nothing',
  async (script) => {
    const { PATH, HOME } = process.env;
    const args = [`scripts/${script}.mjs`, '--help'];
    const child = await startChild({
      name: script,
      command: 'node',
      args,
      env: { PATH, HOME, TOLLGATE_STATE_DIR: folder },
    });
    children.push(child);
    expect((await child.exited).code).toBe(0);
    expect(child.logs()).toMatch(new RegExp(`^npm run ${basename(script)}\\b.*: `));
    expect(readdirSync(folder)).toEqual([]);
  },
);

it.each(['dev', 'demo', 'stop'])('npm run %s refuses unknown arguments, and does nothing', async (script) => {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, TOLLGATE_STATE_DIR: folder };
  const child = await startChild({
    name: script,
    command: 'node',
    args: [`scripts/run/${script}.mjs`, 'dance'],
    env,
  });
  children.push(child);
  expect((await child.exited).code).toBe(2);
  expect(child.logs()).toContain('dance');
  expect(readdirSync(folder)).toEqual([]);
});

it('npm run demo pays once, and is refused the second time', async () => {
  const demo = await runScript('demo');
  const { code } = await demo.exited;
  const output = demo.logs();
  expect(output).toContain('"error": "Payment already used"');
  expect(output).toContain('Idempotent-Replayed: true');
  expect(output.match(/< (\d{3}) /g)).toEqual(['402', '200', '402', '402', '200'].map((status) => `< ${status} `));
  expect(code).toBe(0);
}, 180_000);
