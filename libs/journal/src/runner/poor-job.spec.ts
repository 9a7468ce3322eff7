import { type Interception, type RpcCall } from '../../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { useProxiedLanes } from '../../test/lane-fixture.js';
import { markOf } from '../../test/transfer-planner.js';
import { createKeySigner } from '../signer/create-key-signer.js';

const COIN = 10n ** 18n;

describe('a job that its wallet cannot pay for', () => {
  const { fixture, proxy } = useProxiedLanes({ balance: 100n * COIN });

  const SETTINGS = { ordinaryGas: 500_000n };
  const submitCoins = (coins: bigint) => fixture.submit({ value: `${coins * COIN}` });
  const readPause = async () => (await fixture.journal.readLane(fixture.lane)).paused?.code ?? null;
  const readInputs = async () => (await fixture.readMined()).map(({ nonce, input }) => [nonce, input]);
  /** Signs like the wallet, whose balance falls before the first bytes are sent. */
  const signAfter = (balance: bigint) => {
    const signer = createKeySigner(fixture.privateKey);
    let isDone = false;
    return {
      ...signer,
      sign: async (...args: Parameters<typeof signer.sign>) => {
        if (!isDone) await fixture.setBalance(balance);
        isDone = true;
        return signer.sign(...args);
      },
    };
  };

  it('fails before it takes a nonce if the balance does not cover what the node will ask for', async () => {
    const poor = await submitCoins(100n);
    fixture.startRunner(SETTINGS);
    const job = await fixture.waitForState(poor, 'PLAN_FAILED');
    expect(job.failure!.code).toBe('INSUFFICIENT_FUNDS');
    expect(job.steps).toEqual([]);
    expect(await fixture.journal.readLane(fixture.lane)).toMatchObject({ paused: null, nextNonce: 41 });
  });

  it('fails alone when earlier jobs in flight have taken what it needs, and its nonce is used', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const jobIds = [await submitCoins(60n), await submitCoins(60n), await submitCoins(60n), await submitCoins(1n)];
    fixture.startRunner({ ...SETTINGS, jobsAtOnce: 1 });
    for (const jobId of jobIds) await fixture.waitForState(jobId, 'BROADCAST');
    await waitFor('the end of all', async () => {
      await fixture.rpc('evm_mine');
      const jobs = await Promise.all(jobIds.map((jobId) => fixture.readJob(jobId)));
      return jobs.every(({ endedAtMs }) => endedAtMs !== null);
    });
    const jobs = await fixture.waitForEnds(jobIds);
    expect(jobs.map(({ state }) => state)).toEqual(['FINAL', 'PLAN_FAILED', 'PLAN_FAILED', 'FINAL']);
    expect(jobs.map(({ failure }) => failure?.code)).toEqual([
      undefined,
      'INSUFFICIENT_FUNDS',
      'INSUFFICIENT_FUNDS',
      undefined,
    ]);
    expect(await readInputs()).toEqual([
      [41, markOf(jobIds[0]!, 0)],
      [42, '0x'],
      [43, '0x'],
      [44, markOf(jobIds[3]!, 0)],
    ]);
    await waitFor('a lane that goes on', async () => (await readPause()) === null);
  });

  it('fails alone if no node ever accepted its bytes', async () => {
    const poor = await submitCoins(60n);
    fixture.startRunner(SETTINGS, { signer: signAfter(50n * COIN) });
    const job = await fixture.waitForState(poor, 'PLAN_FAILED');
    expect(job.failure!.code).toBe('INSUFFICIENT_FUNDS');
    expect(job.steps[0]!.attempts.map(({ kind }) => kind)).toEqual(['first', 'cancel']);
    const later = await submitCoins(1n);
    await fixture.waitForState(later, 'FINAL');
    expect(await readInputs()).toEqual([
      [41, '0x'],
      [42, markOf(later, 0)],
    ]);
  });

  it('fails alone above a step that has its nonce and no bytes yet', async () => {
    const signer = createKeySigner(fixture.privateKey);
    const jobIds = [await submitCoins(1n)];
    let isSignable = false;
    const sign: typeof signer.sign = async (transaction) => {
      const { nonce } = transaction;
      const poor = jobIds[1] === undefined ? null : await fixture.readJob(jobIds[1]);
      isSignable ||= (poor !== null && poor.ending !== null) || (await readPause()) !== null;
      if (nonce === 41 && !isSignable) throw new Error('the signer does not answer');
      if (nonce === 42 && poor?.state === 'RESERVED') await fixture.setBalance(50n * COIN);
      return signer.sign(transaction);
    };
    fixture.startRunner({ ...SETTINGS, planRetryMs: 10 }, { signer: { ...signer, sign } });
    await fixture.waitForState(jobIds[0]!, 'RESERVED');
    jobIds.push(await submitCoins(60n));
    await fixture.waitForState(jobIds[0]!, 'FINAL');
    expect((await fixture.waitForState(jobIds[1]!, 'PLAN_FAILED')).failure!.code).toBe('INSUFFICIENT_FUNDS');
    expect(await readInputs()).toEqual([
      [41, markOf(jobIds[0]!, 0)],
      [42, '0x'],
    ]);
  });

  it.each([
    ['cannot pay for any other', SETTINGS],
    ['has jobs that always wait', {}],
  ])('waits if the wallet %s', async (_, settings) => {
    const jobId = await submitCoins(60n);
    fixture.startRunner(settings, { signer: signAfter(COIN / 10_000n), rpcUrls: [proxy.rpcUrl] });
    await waitFor('the pause', async () => (await readPause()) === 'INSUFFICIENT_FUNDS');
    const before = proxy.calls.length;
    await waitFor('some tries', () => proxy.calls.length > before + 30);
    expect(await fixture.readJob(jobId)).toMatchObject({ state: 'SIGNED', ending: null });
    await fixture.setBalance(100n * COIN);
    await fixture.waitForState(jobId, 'FINAL');
    expect(await readInputs()).toEqual([[41, markOf(jobId, 0)]]);
  });

  it('succeeds if a node had accepted its bytes after all, and they are mined before the cancel', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const error = { code: -32000, message: 'insufficient funds for gas * price + value' };
    let sent = 0;
    let inPool: unknown = null;
    const answer = async ({ id, method, params }: RpcCall & { id: unknown }) => {
      if (method !== 'eth_sendRawTransaction') return { jsonrpc: '2.0', id, result: await fixture.rpc(method, params) };
      // The node gets the first bytes only.
      if (++sent === 1) inPool = await fixture.rpc(method, params);
      return { jsonrpc: '2.0', id, error };
    };

    const pretend: Interception = async (call) => {
      const calls = call as unknown as Parameters<typeof answer>[0] | Parameters<typeof answer>[0][];
      return { body: JSON.stringify(await (Array.isArray(calls) ? Promise.all(calls.map(answer)) : answer(calls))) };
    };
    proxy.intercept('*', pretend);
    const jobId = await submitCoins(60n);
    fixture.startRunner(SETTINGS, { rpcUrls: [proxy.rpcUrl] });
    await waitFor('the bytes in the pool', () => inPool !== null);
    await fixture.setBalance(50n * COIN);
    await waitFor('a cancel', async () => (await fixture.readJob(jobId)).steps[0]!.attempts.length === 2);
    await fixture.setBalance(100n * COIN);
    await fixture.rpc('evm_mine');
    const job = await fixture.waitForState(jobId, 'FINAL');
    expect(job.steps[0]!.mined!.hash).toBe(job.steps[0]!.attempts[0]!.hash);
    expect(await readInputs()).toEqual([[41, markOf(jobId, 0)]]);
  });
});
