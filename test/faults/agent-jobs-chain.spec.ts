import { numberToHex, parseGwei } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import { waitFor } from '../harness/retry.js';
import { expectCarriedOutOnce, useAgents } from '../harness/stack/use-agents.js';

// Processes are killed and restarted, which is slow on a busy machine.
jest.setTimeout(180_000);

const RECEIVER = '0x00000000000000000000000000000000000a11ce';
const TRANSFER = { amount: '0.01', to: RECEIVER } as const;

/**
 * Whole jobs, from the API to the stream of events, on a chain with reorganisations, rising fees and foreign nonces.
 */
describe('agent jobs on a chain', () => {
  // Only the test of rising fees wants a step signed again, however long a busy machine takes.
  const patience = { REPLACE_AFTER_MS: '120000' };
  const agents = useAgents({ env: { ...patience, CONFIRMATIONS: '2' } });

  /** The worker waits for a block on top of each transaction's: one is mined now and then. */
  let miner: NodeJS.Timeout;
  const mine = (blocks = 1) => agents().rpc('anvil_mine', [numberToHex(blocks)]);
  const startMining = () => {
    miner = setInterval(() => void mine().catch(() => undefined), 200);
  };
  const stopMining = async () => {
    clearInterval(miner);
    await agents().rpc('evm_setAutomine', [false]);
  };

  beforeEach(startMining);
  afterEach(async () => {
    clearInterval(miner);
    agents().proxy.reset();
    await agents().rpc('evm_setAutomine', [true]);
  });

  const transfer = () => agents().submit('transfer', TRANSFER);
  const waitForEnd = (jobId: string) => agents().client.waitFor(jobId, 'FINAL');

  describe('whose fees rise above the offered ones', () => {
    const restartWorker = (env: NodeJS.ProcessEnv) => agents().stack.agentWorkers[0]!.restart(env);
    beforeAll(() => restartWorker({ REPLACE_AFTER_MS: '400' }), 180_000);
    afterAll(() => restartWorker(patience), 180_000);

    it('signs the step again, and has it mined once', async () => {
      await stopMining();
      const jobId = await transfer();
      const [first] = (await agents().client.waitFor(jobId, 'BROADCAST')).steps[0]!.attempts;
      const spike = parseGwei('40');
      await agents().rpc('anvil_setNextBlockBaseFeePerGas', [numberToHex(spike)]);
      await mine();
      await waitFor('an offer above the new fee', async () => {
        const { attempts } = (await agents().client.read(jobId)).steps[0]!;
        return attempts.length > 1 && attempts.at(-1)!.sentAt !== null;
      });
      startMining();
      const job = await waitForEnd(jobId);
      expect(job.steps[0]!.mined!.txHash).not.toBe(first!.txHash);
      await expectCarriedOutOnce(agents(), job);
    });
  });

  it('whose wallet is empty: the jobs wait, and continue when it is refilled', async () => {
    const { wallet, rpc, journal } = agents();
    await rpc('anvil_setBalance', [wallet.address, '0x0']);
    const jobIds = [await agents().submit('transfer', { ...TRANSFER, token: 'USDC' }), await transfer()];
    await waitFor('the pause', async () => (await journal.readLane(wallet.lane)).paused !== null);
    const { nextNonce } = await journal.readLane(wallet.lane);
    for (const jobId of jobIds) expect((await agents().client.read(jobId)).failure).toBeNull();

    await rpc('anvil_setBalance', [wallet.address, numberToHex(10n ** 20n)]);
    const jobs = await Promise.all(jobIds.map(waitForEnd));
    const nonces = jobs.map(({ steps }) => steps[0]!.nonce!).sort((one, other) => one - other);
    expect(nonces).toEqual([nextNonce, nextNonce! + 1]);
    expect((await agents().readNewTransactions()).map(({ nonce }) => nonce)).toEqual(nonces);
  });

  it('that reorganises: the same bytes are sent again', async () => {
    await stopMining();
    const jobId = await transfer();
    await agents().client.waitFor(jobId, 'BROADCAST');
    await mine();
    const before = (await agents().client.waitFor(jobId, 'MINED')).steps[0]!;
    await agents().rpc('anvil_reorg', [1, []]);
    await agents().client.waitFor(jobId, 'BROADCAST');
    startMining();
    const job = await waitForEnd(jobId);
    const after = job.steps[0]!;
    expect(after.attempts.map(({ txHash }) => txHash)).toEqual(before.attempts.map(({ txHash }) => txHash));
    expect(after.mined!.txHash).toBe(before.mined!.txHash);
    await expectCarriedOutOnce(agents(), job);
  });

  it('on which a foreign transaction uses the wallet’s nonce: the job waits for an operator, and no other nonce is taken', async () => {
    const { wallet, chain, rpc, journal } = agents();
    await stopMining();
    // The node accepts no transaction of the worker until the stranger's is mined.
    agents().proxy.intercept('*', async (call, forward) =>
      JSON.stringify(call).includes('eth_sendRawTransaction') ? 'broken' : { body: await forward() },
    );
    const jobId = await transfer();
    const { steps } = await agents().client.waitFor(jobId, 'SIGNED');
    const raw = await privateKeyToAccount(wallet.privateKey).signTransaction({
      chainId: chain.chainId,
      type: 'eip1559',
      nonce: steps[0]!.nonce!,
      to: RECEIVER,
      gas: 21_000n,
      maxFeePerGas: parseGwei('100'),
      maxPriorityFeePerGas: parseGwei('1'),
    });
    await rpc('eth_sendRawTransaction', [raw]);
    await mine();
    agents().proxy.reset();
    startMining();
    const job = await agents().client.waitFor(jobId, 'NEEDS_OPERATOR');
    expect(job.failure!.code).toBe('NONCE_TAKEN');
    await waitFor('the event', () => agents().eventsOf(jobId).length > 0);
    expect(agents().eventsOf(jobId)).toMatchObject([{ type: 'jobNeedsOperator', error: { code: 'NONCE_TAKEN' } }]);

    const later = await waitForEnd(await transfer());
    expect(later.steps[0]!.nonce).toBe(steps[0]!.nonce! + 1);
    expect((await agents().readNewTransactions()).map(({ hash }) => hash)).toContain(later.steps[0]!.mined!.txHash);
    expect((await journal.readLane(wallet.lane)).nextNonce).toBe(later.steps[0]!.nonce! + 1);
  });

  it('whose server hangs when the worker is stopped: the worker ends by itself, and the next one continues', async () => {
    const [worker] = agents().stack.agentWorkers;
    agents().proxy.intercept('*', () => 'silence');
    const jobId = await transfer();
    // SIGTERM, and SIGKILL after 25 seconds.
    expect(await worker!.kill('SIGTERM', 25_000)).toEqual({ code: 0, signal: null });
    agents().proxy.reset();
    await worker!.restart();
    await expectCarriedOutOnce(agents(), await waitForEnd(jobId));
  });
});
