import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

import { decodeJsonHeader, encodeJsonHeader, type PaymentRequiredV2 } from '@tollgate/protocol';

import { DEVNET_CONTRACTS } from '../../packages/agent-kit/src/registry/devnet-contracts.js';
import { readBalance } from '../../tools/devnet/chain/read-balance.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import type { DevState } from '../../tools/devnet/dev-state.js';
import { waitFor } from '../harness/retry.js';
import { readDescendants, waitUntilGone } from '../harness/stack/processes.js';
import { useDevRuns } from '../harness/stack/use-dev-runs.js';

const runs = useDevRuns();
const { runScript, waitForState } = runs;

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
    expect(statSync(join(runs.folder, 'dev.json')).mode & 0o777).toBe(0o600);
    expect(await askWeather(state)).toBe(402);
    expect(await payBySignature(state)).toBe(200);

    const processes = readDescendants(dev.pid);
    // At least the dev process, redis, anvil, verifier, agent worker and gateway.
    expect(processes.length).toBeGreaterThanOrEqual(6);
    dev.signal('SIGINT');
    await dev.exited;
    expect(await waitUntilGone(processes)).toEqual([]);
    // Secrets, a wallet to click with, and the world stay for the next time.
    const kept = ['agent-secret', 'book-signing-key', 'challenge-secret', 'test-wallet.js', 'world'];
    expect(readdirSync(runs.folder)).toEqual(kept);
  }, 300_000);

  it('sells on two chains with --chains 2, and goes on with both', async () => {
    const buy = async (): Promise<number> => {
      const dev = await runScript('dev', {}, ['--', '--chains', '2']);
      const state = await waitForState(dev);
      const second = { ...state.secondChain!, payTo: state.payTo };
      const payment = await signAuthorization(second, state.accounts[0]!, { value: '1000' });
      const { headers } = await fetch(`${state.baseUrl}/api/weather`);
      const { accepts } = decodeJsonHeader(headers.get('payment-required')!, 16_384) as unknown as PaymentRequiredV2;
      expect(accepts.map(({ network }) => network)).toEqual(['eip155:1328', 'eip155:84532', 'eip155:84532']);
      const { signature, authorization } = payment;
      const header = encodeJsonHeader({ x402Version: 2, accepted: accepts[1], payload: { signature, authorization } });
      const { status } = await fetch(`${state.baseUrl}/api/weather`, { headers: { 'PAYMENT-SIGNATURE': header } });
      expect(status).toBe(200);
      const balance = await readBalance(second, state.payTo);
      dev.signal('SIGINT');
      await dev.exited;
      return Number(balance);
    };
    expect(await buy()).toBe(1000);
    expect(await buy()).toBe(2000);
    expect(readdirSync(runs.folder)).toContain('payments.yaml');
  }, 540_000);

  it('reports all wrong settings at once, of every service, before it starts any', async () => {
    const dev = await runScript('dev', { MAX_IN_FLIGHT: '0', LANE_MAX_IN_FLIGHT: '0', LEASE_MS: '0' });
    expect((await dev.exited).code).toBe(1);
    for (const wrong of [/ MAX_IN_FLIGHT .*\(verifier\)/, /LANE_MAX_IN_FLIGHT .*worker\)/, /LEASE_MS .*\(gateway\)/]) {
      expect(dev.logs()).toMatch(wrong);
    }
    expect(dev.logs()).not.toContain('is ready at');
  }, 300_000);

  it('runs twice in one folder, each with addresses and a state of its own', async () => {
    const first = await runScript('dev');
    const firstState = await waitForState(first);
    const { port } = new URL(firstState.baseUrl);
    const second = await runScript('dev', { PORT: port, PUBLIC_URL: `http://localhost:${port}` });
    const secondState = await waitForState(second, join(runs.folder, 'dev-2', 'dev.json'));
    for (const name of ['baseUrl', 'rpcUrl', 'redisUrl', 'explorerUrl'] as const) {
      expect(secondState[name]).not.toBe(firstState[name]);
    }
    // The second devnet's PUBLIC_URL leads to the first one.
    await waitFor('a warning', () => second.logs().includes(`PUBLIC_URL names port ${port}, which was taken`));
    first.signal('SIGINT');
    await first.exited;
    expect(await askWeather(secondState)).toBe(402);
  }, 540_000);

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
    // So the next start moves its world aside.
    expect(readdirSync(join(runs.folder, 'world'))).not.toContain('kept.json');
  }, 300_000);
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
    const child = await runs.run('node', [`scripts/${script}.mjs`, '--help']);
    expect((await child.exited).code).toBe(0);
    expect(child.logs()).toMatch(new RegExp(`^npm run ${basename(script)}\\b.*: `));
    expect(readdirSync(runs.folder)).toEqual([]);
  },
);

it.each(['dev', 'demo', 'stop'])('npm run %s refuses unknown arguments, and does nothing', async (script) => {
  const child = await runs.run('node', [`scripts/run/${script}.mjs`, 'dance']);
  expect((await child.exited).code).toBe(2);
  expect(child.logs()).toContain('dance');
  expect(readdirSync(runs.folder)).toEqual([]);
});

it('npm run demo -- chains buys on two chains, pays one back, and finds no difference', async () => {
  const demo = await runScript('demo', {}, ['--', 'chains']);
  const { code } = await demo.exited;
  expect(demo.logs()).toMatch(/1328 +USDC .* 0\n.*84532 +USDC .* 0\n.*84532 +WDEV .* 0\n/);
  expect(code).toBe(0);
}, 240_000);

it('npm run demo pays once, and is refused the second time', async () => {
  const demo = await runScript('demo');
  const { code } = await demo.exited;
  const output = demo.logs();
  expect(output).toContain('"error": "Payment already used"');
  expect(output).toContain('Idempotent-Replayed: true');
  expect(output.match(/< (\d{3}) /g)).toEqual(['402', '200', '402', '402', '200'].map((status) => `< ${status} `));
  expect(code).toBe(0);
}, 180_000);
