import { randomBytes } from 'node:crypto';

import { waitFor } from '../harness/retry.js';
import { expectCarriedOutOnce, useAgents, waitForDeath } from '../harness/stack/use-agents.js';

// Processes are killed and restarted, which is slow on a busy machine.
jest.setTimeout(180_000);

const SWAP = { amount: '1', fromToken: 'USDC', toToken: 'WSEI' } as const;

/** Gateway and workers as in production, killed at the points where a job could be lost or sent twice. */
describe('a job of two steps survives', () => {
  const agents = useAgents({ workers: 2, fromSource: ['gateway', 'agent-worker'], env: { REPLACE_AFTER_MS: '600' } });
  const worker = () => agents().stack.agentWorkers[0]!;
  const other = () => agents().stack.agentWorkers[1]!;

  // Only one runs, so that it is the one that dies; the other is for F12.
  beforeAll(() => other().kill());

  afterEach(async () => {
    agents().proxy.reset();
    await agents().rpc('evm_setAutomine', [true]);
  });

  const dieAndRestart = async () => (await waitForDeath([worker()])).restart();

  const expectSwapOnce = async (jobId: string) =>
    expectCarriedOutOnce(agents(), await agents().client.waitFor(jobId, 'FINAL'));

  it.each(['F1', 'F2'] as const)(
    '%s: the gateway dies around the submission, and the same key makes one job',
    async (at) => {
      const { client, crashAt, stack, wallet } = agents();
      crashAt(at);
      const request = { operation: 'swap', wallet: wallet.name, input: SWAP } as const;
      const key = randomBytes(8).toString('hex');
      await expect(client.submit(request, key)).rejects.toThrow('fetch failed');
      await waitForDeath(stack.gateways);
      await stack.gateways[0]!.restart();
      const jobId = await client.submit(request, key);
      expect(await client.submit(request, key)).toBe(jobId);
      await expectSwapOnce(jobId);
    },
  );

  it.each(['F3', 'F4', 'F5', 'F6', 'F7', 'F8', 'F10'] as const)(
    '%s: the worker dies, and the next one continues',
    async (at) => {
      agents().crashAt(at);
      const jobId = await agents().submit('swap', SWAP);
      await dieAndRestart();
      await expectSwapOnce(jobId);
    },
  );

  it('F9: the worker dies with a replacement that was not sent, and one of the two is mined', async () => {
    await agents().rpc('evm_setAutomine', [false]);
    agents().crashAt('F9');
    const jobId = await agents().submit('swap', SWAP);
    await waitForDeath([worker()]);
    const { steps } = await agents().client.read(jobId);
    expect(steps[0]!.attempts.map(({ kind }) => kind)).toEqual(['first', 'replacement']);
    await agents().rpc('evm_setAutomine', [true]);
    await worker().restart();
    await expectSwapOnce(jobId);
  });

  it('F11: the worker dies after a reorganisation, and the same bytes are sent again', async () => {
    await worker().restart({ CONFIRMATIONS: '3' });
    const snapshot = await agents().rpc('evm_snapshot');
    const jobId = await agents().submit('swap', SWAP);
    const before = (await agents().client.waitFor(jobId, 'MINED')).steps[0]!;
    agents().crashAt('F11');
    await agents().rpc('evm_revert', [snapshot]);
    await agents().rpc('anvil_mine', ['0x4']);
    await waitForDeath([worker()]);
    await worker().restart({ CONFIRMATIONS: '1' });
    await expectSwapOnce(jobId);
    const after = (await agents().client.read(jobId)).steps[0]!;
    expect(after.attempts.map(({ txHash }) => txHash)).toEqual(before.attempts.map(({ txHash }) => txHash));
  });

  it('F12: the worker sleeps past its lease, another continues, and the first writes nothing more', async () => {
    agents().crashAt('F12', 'SIGSTOP');
    const jobId = await agents().submit('swap', SWAP);
    await waitFor('a worker that sleeps', () => !agents().isCrashPending());
    await other().restart();
    await expectSwapOnce(jobId);
    const job = await agents().client.read(jobId);
    worker().signal('SIGCONT');
    await waitFor('its notice', () => worker().logs().includes("Another process holds the lane's lease"));
    expect(await agents().client.read(jobId)).toEqual(job);
    await other().kill();
  });

  it('F14: the worker gets SIGTERM in the middle of the job and stops, and the next one continues', async () => {
    await agents().rpc('evm_setAutomine', [false]);
    const jobId = await agents().submit('swap', SWAP);
    await agents().client.waitFor(jobId, 'BROADCAST');
    // A worker that does not stop within 25 seconds gets SIGKILL, and the reported signal would show it.
    expect(await worker().kill('SIGTERM', 25_000)).toEqual({ code: 0, signal: null });
    await agents().rpc('evm_setAutomine', [true]);
    await agents().rpc('evm_mine');
    await worker().restart();
    await expectSwapOnce(jobId);
  });
});
