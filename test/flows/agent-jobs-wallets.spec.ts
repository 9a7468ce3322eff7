import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { waitFor } from '../harness/retry.js';
import { useAgents } from '../harness/stack/use-agents.js';

// Processes are restarted, which is slow on a busy machine.
jest.setTimeout(180_000);

const DRY_RUNS = 20;
const RECEIVER = '0x00000000000000000000000000000000000a11ce';

describe('two workers with a wallet each', () => {
  const patience = { AGENT_PLAN_TIMEOUT_MS: '60000', RPC_TIMEOUT_MS: '30000' };
  const agents = useAgents({ workers: 2, wallets: { one: {}, two: {} }, env: patience });
  let folder: string;

  beforeAll(async () => {
    const { agentWorkers, agents: setup } = agents().stack;
    folder = mkdtempSync(join(tmpdir(), 'tollgate-wallets-'));
    for (const [index, worker] of agentWorkers.entries()) {
      const { name, privateKey } = setup!.wallets[index]!;
      const keyFile = join(folder, `${name}.key`);
      writeFileSync(keyFile, privateKey, { mode: 0o600 });
      const walletsFile = join(folder, `${name}.json`);
      writeFileSync(walletsFile, JSON.stringify({ wallets: { [name]: { privateKeyFile: keyFile } } }), { mode: 0o600 });
      await worker.restart({ WALLETS_FILE: walletsFile });
    }
  }, 180_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  const dryRun = (wallet: string) =>
    agents().client.send('POST', '/agent/jobs?dryRun=true', {
      operation: 'transfer',
      wallet,
      input: { amount: '0.5', to: RECEIVER },
    });

  it('plan every dry run, each of its own wallet', async () => {
    const wallets = Array.from({ length: DRY_RUNS }, (_, index) => (index % 2 === 0 ? 'one' : 'two'));
    const answers = await Promise.all(wallets.map(dryRun));
    expect(answers.map(({ status }) => status)).toEqual(wallets.map(() => 200));
  });

  it('publish their tokens, so that a job of another token is refused at once', async () => {
    const submit = (token: string, amount = '1') =>
      agents().client.send('POST', '/agent/jobs?dryRun=true', {
        operation: 'transfer',
        wallet: 'two',
        input: { amount, to: RECEIVER, token },
      });
    // Once the worker holds the wallet's lane and has read its chain.
    await waitFor('the tokens of the wallet', async () => (await submit('EURC')).status === 400);
    expect(await (await submit('EURC')).json()).toMatchObject({
      code: 'request_invalid',
      problems: [expect.stringMatching(/^input\.token must be .*: SEI, USDC, WSEI, WBTC, stSEI$/)],
    });
    expect((await submit('usdc', '0.0000001')).status).toBe(400);
    expect((await submit('sei')).status).toBe(200);
  });

  it('report which wallet has no worker once one of them is gone, and still plan for the other', async () => {
    const [first, second] = agents().stack.agentWorkers;
    await Promise.all([first!.kill('SIGTERM'), second!.restart()]);
    await agents().stack.gateways[0]!.restart({ AGENT_PLAN_TIMEOUT_MS: '15000' });
    await waitFor('a plan of the worker that is left', async () => (await dryRun('two')).status === 200);
    // On a busy machine the gateway may not learn in time that no worker took the question: then it names no wallet.
    const untilNamed = waitFor('the wallet without a worker', async () => {
      const gone = await dryRun('one');
      const { code, detail } = (await gone.json()) as { code: string; detail: string };
      expect([gone.status, code]).toEqual([503, 'planning_unavailable']);
      expect(gone.headers.get('retry-after')).not.toBeNull();
      return detail.includes('No worker with the wallet "one" answers now.');
    });
    const [there] = await Promise.all([dryRun('two'), untilNamed]);
    expect(there.status).toBe(200);
  });
});
