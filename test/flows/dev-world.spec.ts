import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createJobsClient } from '@tollgate/client/jobs';
import { encodeJsonHeader, encodeProof, parseChallenge } from '@tollgate/protocol';
import { numberToHex, type Hex } from 'viem';

import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
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

/** A proof that names the reference of its challenge gets the stored answer again. */
async function present({ baseUrl }: DevState, proof: string) {
  const response = await fetch(`${baseUrl}/api/weather`, { headers: { 'X-Payment': proof } });
  const isReplay = response.headers.get('Idempotent-Replayed') === 'true';
  return { status: response.status, isReplay, body: await response.text() };
}

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
    const sold = await present(state, proof);
    expect(sold).toMatchObject({ status: 200, isReplay: false });
    first.signal('SIGINT');
    expect((await first.exited).code).toBe(0);
    expect(first.logs()).not.toMatch(ALARMS);

    const second = await runs.runScript('dev');
    const again = await runs.waitForState(second);
    expect(second.logs()).toContain('Going on with the world of the last run.');
    expect([again.agent, again.operator.apiKey]).toEqual([state.agent, state.operator.apiKey]);
    expect(await present(again, proof)).toEqual({ ...sold, isReplay: true });
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
    expect(dev.logs()).toContain('The previous world was deleted.');
    expect([existsSync(mark), readdirSync(runs.folder).includes('old-worlds')]).toEqual([false, false]);
    const processes = readDescendants(dev.pid);
    dev.signal('SIGKILL');
    expect(await waitUntilGone(processes)).toEqual([]);
    expect(existsSync(join(runs.folder, 'dev.json'))).toBe(false);
    expect(readdirSync(world())).toContain('kept.json');
  }, 180_000);
});

describe('PAYMENT_POLICY=receipt npm run dev', () => {
  const proofOf = (state: DevState, txHash: Hex, changes: object = {}) => ({
    x402Version: 1,
    scheme: 'exact',
    network: state.network,
    payload: { txHash, amount: '1000', from: state.accounts[0]!.address },
    ...changes,
  });

  it('sells as the tables of the specification say, beside a world that it has moved aside', async () => {
    leaveWorld();
    const dev = await runs.runScript('dev', { PAYMENT_POLICY: 'receipt' });
    const state = await runs.waitForState(dev);
    expect(dev.logs()).toMatch(
      /A new world: the last run did not stop in order\. The previous one is in \S+old-worlds/,
    );
    await waitFor('the line', () => dev.logs().includes('signed payments, facilitator and relayers are off'));
    const chain = { ...state, blockTimeSeconds: null };
    const references = new Set<string>();
    const ask = async (proof?: object, header = 'X-Payment') => {
      const headers = proof === undefined ? {} : { [header]: encodeJsonHeader(proof) };
      const response = await fetch(`${state.baseUrl}/api/weather`, { headers });
      return { status: response.status, headers: response.headers, body: await response.json() };
    };
    const expectChallenge = ({ status, body }: Awaited<ReturnType<typeof ask>>, error?: string) => {
      expect(status).toBe(402);
      const { payTo, asset } = state;
      const requirement = {
        scheme: 'exact',
        network: 'chain-testnet',
        maxAmountRequired: '1000',
        resource: '/api/weather',
        description: expect.any(String) as string,
        mimeType: 'application/json',
        payTo,
        maxTimeoutSeconds: 300,
        asset,
        extra: { name: 'USDC', version: '2', reference: expect.stringMatching(/^chain-\d{13}-[0-9a-z]+$/) as string },
      };
      expect(body).toEqual({ x402Version: 1, accepts: [requirement], ...(error !== undefined && { error }) });
      const { reference } = parseChallenge(body).accepts[0]!.extra;
      expect(references).not.toContain(reference);
      references.add(reference);
    };

    const unpaid = await ask();
    expectChallenge(unpaid);
    expect([unpaid.headers.get('PAYMENT-REQUIRED'), unpaid.headers.get('WWW-Authenticate')]).toEqual([null, null]);

    const mined = await transferTokens(chain, { amountBaseUnits: 1_000n });
    for (const changes of [{ x402Version: 2 }, { scheme: 'upto' }, { network: 'mainnet' }]) {
      expectChallenge(await ask(proofOf(state, mined, changes)), 'Invalid payment format or network');
    }
    const signed = await signAuthorization(state, state.accounts[0]!, { value: '1000' });
    expectChallenge(await ask(proofOf(state, mined, { payload: signed })), 'Invalid payment format or network');

    // More than the account has, and a transaction that nobody has sent.
    const reverted = await transferTokens(chain, { amountBaseUnits: 10n ** 30n });
    for (const txHash of [reverted, numberToHex(7, { size: 32 })]) {
      expectChallenge(await ask(proofOf(state, txHash)), 'Payment verification failed');
    }

    // Neither recipient nor amount is compared, and the name of the header is read case-insensitively.
    const elsewhere = await transferTokens(chain, { amountBaseUnits: 1n, to: state.accounts[1]!.address });
    for (const [txHash, header] of [
      [mined, 'X-Payment'],
      [elsewhere, 'x-PAYMENT'],
    ] as const) {
      const { status, body } = await ask(proofOf(state, txHash), header);
      expect(status).toBe(200);
      expect(body).toEqual({
        location: expect.any(String) as string,
        temperature: expect.any(String) as string,
        conditions: expect.any(String) as string,
        windSpeed: expect.any(String) as string,
        humidity: expect.stringMatching(/^\d+%$/) as string,
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
        payment: { isValid: true, txHash },
      });
    }
  }, 180_000);
});
