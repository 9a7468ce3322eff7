import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createJobsClient } from '@tollgate/client/jobs';
import { encodeProof, parseChallenge } from '@tollgate/protocol';
import type { Hex } from 'viem';

import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import type { DevState } from '../../tools/devnet/dev-state.js';
import { startWebhookTarget, type WebhookTarget } from '../../tools/devnet/stack/webhook-target.js';
import { waitFor } from '../harness/retry.js';
import { readDescendants, waitUntilGone } from '../harness/stack/processes.js';
import { useDevRuns } from '../harness/stack/use-dev-runs.js';

const runs = useDevRuns();
let target: WebhookTarget;

beforeAll(async () => {
  target = await startWebhookTarget();
});

afterAll(() => target.stop());

const world = (...names: string[]) => join(runs.folder, 'world', ...names);

/** A world that an earlier run has left, with a file of its own in it. */
function leaveWorld(): string {
  mkdirSync(world());
  writeFileSync(world('mark'), '');
  return world('mark');
}

const askOperator = async ({ operator: { url, apiKey } }: DevState, path: string) =>
  await (await fetch(`${url}/operator${path}`, { headers: { Authorization: `Bearer ${apiKey}` } })).json();

/** A transfer that is bound to a challenge, and its proof. */
async function payByTransfer(state: DevState): Promise<{ txHash: Hex; proof: string }> {
  const challenge = parseChallenge(await (await fetch(`${state.baseUrl}/api/weather`)).json());
  const { reference } = challenge.accepts[0]!.extra;
  const chain = { ...state, blockTimeSeconds: null };
  const txHash = await transferTokens(chain, { amountBaseUnits: 1_000n, lockReference: reference });
  const payload = { txHash, amount: '1000', from: state.accounts[0]!.address, reference };
  return { txHash, proof: encodeProof({ x402Version: 1, scheme: 'exact', network: state.network, payload }) };
}

const present = async ({ baseUrl }: DevState, proof: string) =>
  (await fetch(`${baseUrl}/api/weather`, { headers: { 'X-Payment': proof } })).status;

/** Good starts have none of these. */
const ALARMS = / WARN +\[(Reconcile|Pages)\]|not ready: book| ERROR /;

describe('npm run dev', () => {
  it('goes on with its world after an orderly stop, but not when it was killed, which other commands say', async () => {
    const first = await runs.runScript('dev');
    const state = await runs.waitForState(first);
    const jobs = createJobsClient({ baseUrl: state.baseUrl, apiKey: state.agent.apiKey });
    const webhook = await jobs.webhooks.register({ url: target.url });
    const input = { amount: '1.5', token: 'USDC', to: state.accounts[1]!.address };
    const { job } = await jobs.submit({ operation: 'transfer', wallet: state.agent.wallet, input });
    await waitFor('the job is done', async () => (await jobs.get(job.id)).state === 'FINAL');
    const { txHash, proof } = await payByTransfer(state);
    expect(await present(state, proof)).toBe(200);
    first.signal('SIGINT');
    expect((await first.exited).code).toBe(0);
    expect(first.logs()).not.toMatch(ALARMS);

    const second = await runs.runScript('dev');
    const again = await runs.waitForState(second);
    expect(second.logs()).toContain('Going on with the world of the last run.');
    expect([again.agent, again.operator.apiKey]).toEqual([state.agent, state.operator.apiKey]);
    expect(await present(again, proof)).toBe(402);
    expect((await fetch(`${again.explorerUrl}/tx/${txHash}`)).status).toBe(200);
    const sameJobs = createJobsClient({ baseUrl: again.baseUrl, apiKey: again.agent.apiKey });
    expect(await sameJobs.get(job.id)).toMatchObject({ state: 'FINAL' });
    expect(await sameJobs.webhooks.list()).toMatchObject([{ id: webhook.id }]);
    await waitFor('the payment is booked, and the chain is compared', async () => {
      const { payments } = (await askOperator(again, '/payments')) as { payments: object[] };
      const { comparedAt } = (await askOperator(again, '/reconcile')) as { comparedAt: string | null };
      return payments.length > 0 && comparedAt !== null;
    });
    const payments = [{ state: 'answered', transaction: txHash }];
    expect(await askOperator(again, '/payments')).toMatchObject({ payments });
    const agreed = { chainOnly: [], bookOnly: [], different: [], trouble: null };
    expect(await askOperator(again, '/reconcile')).toMatchObject(agreed);
    // What the first page of the console shows.
    expect(await askOperator(again, '/health')).toMatchObject({ troubles: [] });
    expect(second.logs()).not.toMatch(ALARMS);

    const processes = readDescendants(second.pid);
    process.kill(Number(readFileSync(join(runs.folder, 'dev.pid'), 'utf8').split(' ')[0]), 'SIGKILL');
    expect(await waitUntilGone(processes)).toEqual([]);
    // So the next start moves this world aside.
    expect(readdirSync(world())).not.toContain('kept.json');
    const pay = ['pay', `${again.baseUrl}/api/weather`, '--max', '1', '--dev'];
    for (const args of [['payments', 'list'], pay]) {
      const command = await runs.run(process.execPath, ['dist/tollgate.js', ...args]);
      expect((await command.exited).code).not.toBe(0);
      expect(command.logs()).toContain(
        `The npm run dev in ${runs.folder} was killed, and nothing answers there: start`,
      );
    }
  }, 240_000);

  it('throws its world away where that is asked for, and stops everything when npm is killed', async () => {
    const mark = leaveWorld();
    const dev = await runs.runScript('dev', {}, ['--', '--fresh']);
    await runs.waitForState(dev);
    expect(dev.logs()).toContain('Everything of before is thrown away.');
    expect([existsSync(mark), readdirSync(runs.folder).includes('old-worlds')]).toEqual([false, false]);
    const processes = readDescendants(dev.pid);
    dev.signal('SIGKILL');
    expect(await waitUntilGone(processes)).toEqual([]);
    expect(existsSync(join(runs.folder, 'dev.json'))).toBe(false);
    expect(readdirSync(world())).toContain('kept.json');
  }, 180_000);
});
