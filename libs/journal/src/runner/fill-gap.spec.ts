import { type RpcCall } from '../../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { useProxiedLanes, RECEIVER } from '../../test/lane-fixture.js';
import { FAILURE } from '../../test/sample-jobs.js';
import type { LaneGap } from '../jobs/transition.js';
import type { AutomaticFills } from '../lanes/lane-work.js';

// Processes are killed and restarted, which takes long on a busy machine.
jest.setTimeout(180_000);
const PROCESS_WITHIN_MS = 60_000;

const SETTINGS = { nonceDoubtBlocks: 2, nonceDoubtMs: 20 };
const FILLS: AutomaticFills = { wallet: 'main', mostPerHour: 1 };

describe('a gap in the nonces of a wallet', () => {
  const { fixture, proxy } = useProxiedLanes();

  const mine = () => fixture.rpc('anvil_mine', ['0x1']);
  const mineUntil = (what: string, isSo: () => Promise<boolean>) =>
    waitFor(what, async () => {
      await mine();
      return isSo();
    });
  const readGap = async () => (await fixture.journal.readLane(fixture.lane)).gap;
  const waitForGap = async (): Promise<LaneGap> => {
    await mineUntil('the gap is noted', async () => (await readGap()) !== null);
    return (await readGap())!;
  };
  const fill = async ({ nonce, hadBy }: LaneGap): Promise<string> => {
    const asked = { lane: fixture.lane, nonce, wallet: 'main', keyId: 'operator', mostPerHour: null };
    const result = await fixture.journal.fillNonce({ ...asked, hadBy: hadBy?.jobId ?? null });
    if (result.outcome !== 'done') throw new Error(JSON.stringify(result));
    return result.jobId;
  };
  const mineUntilEnded = async (jobId: string) => {
    await mineUntil(`${jobId} ends`, async () => (await fixture.readJob(jobId)).endedAtMs !== null);
    return fixture.readJob(jobId);
  };
  const readReceivers = async () => (await fixture.readMined()).map(({ nonce, to }) => ({ nonce, to }));

  /** Ends a job at nonce 41, and removes its transaction from the chain. Returns the job's id and the transaction. */
  const loseEndedJob = async (): Promise<{ jobId: string; raw: string }> => {
    const runner = fixture.startRunner();
    const jobId = await fixture.submit();
    const { steps } = await fixture.waitForState(jobId, 'FINAL');
    await runner.stop();
    const raw = String(await fixture.rpc('eth_getRawTransactionByHash', [steps[0]!.mined!.hash]));
    await fixture.rpc('evm_setAutomine', [false]);
    await fixture.rpc('anvil_reorg', [1, []]);
    await fixture.rpc('anvil_dropAllTransactions');
    return { jobId, raw };
  };

  /** The next nonce is 42, since another program's transaction was pending when the lane was adopted; it is gone since. */
  const adoptAhead = async (): Promise<void> => {
    await fixture.useNewWallet({ nonce: 42 });
    await fixture.rpc('anvil_setNonce', [fixture.lane.address, '0x29']);
  };

  it('is filled: the ended job that had the nonce has not taken place, and those behind it go on', async () => {
    const { jobId: ended } = await loseEndedJob();
    fixture.startRunner(SETTINGS);
    const later = await fixture.submit();
    const gap = await waitForGap();
    expect(gap).toEqual({ nonce: 41, hadBy: { jobId: ended, stepIndex: 0 }, isUnheld: false });
    const { state, steps } = await mineUntilEnded(await fill(gap));
    expect(state).toBe('FINAL');
    expect(steps[0]!.attempts.map(({ kind }) => kind)).toEqual(['cancel']);
    expect(await mineUntilEnded(later)).toMatchObject({ state: 'FINAL' });
    expect(await fixture.readJob(ended)).toMatchObject({ state: 'CANCELLED', failure: { code: 'NONCE_FILLED' } });
    expect(await readReceivers()).toEqual([
      { nonce: 41, to: fixture.lane.address },
      { nonce: 42, to: RECEIVER },
    ]);
    await mineUntil('the gap is gone', async () => (await readGap()) === null);
  });

  it('is filled by the parked job that has the nonce, whose own transaction was removed', async () => {
    const needsOperator = { outcome: 'needs_operator', failure: FAILURE } as const;
    const runner = fixture.startRunner(SETTINGS, { judgeStep: () => Promise.resolve(needsOperator) });
    const jobId = await fixture.submit();
    await fixture.waitForState(jobId, 'NEEDS_OPERATOR');
    await fixture.rpc('evm_setAutomine', [false]);
    await fixture.rpc('anvil_reorg', [1, []]);
    await fixture.rpc('anvil_dropAllTransactions');
    const gap = await waitForGap();
    expect(await fill(gap)).toBe(jobId);
    const { state, failure, steps } = await mineUntilEnded(jobId);
    expect({ state, code: failure?.code }).toEqual({ state: 'CANCELLED', code: 'NONCE_FILLED' });
    expect(steps[0]!.attempts.map(({ kind }) => kind)).toEqual(['first', 'cancel']);
    expect(await readReceivers()).toEqual([{ nonce: 41, to: fixture.lane.address }]);
    await runner.stop();
  });

  it("ends with the ended job's own transaction where that comes back before the fill is mined", async () => {
    const { jobId: ended, raw } = await loseEndedJob();
    const runner = fixture.startRunner(SETTINGS);
    const gap = await waitForGap();
    await runner.stop();
    const jobId = await fill(gap);
    await fixture.rpc('eth_sendRawTransaction', [raw]);
    await mine();
    fixture.startRunner(SETTINGS);
    const { steps } = await fixture.readJob(ended);
    expect(await mineUntilEnded(jobId)).toMatchObject({
      state: 'CANCELLED',
      failure: { code: 'NONCE_TAKEN', message: expect.stringContaining(steps[0]!.mined!.hash) },
    });
    expect(await fixture.readJob(ended)).toMatchObject({ state: 'FINAL', failure: null });
    expect(await readReceivers()).toEqual([{ nonce: 41, to: RECEIVER }]);
  });

  it.each([
    ['that no job had', adoptAhead, () => 'Nothing is left to fill.'],
    ['of a job that ended', loseEndedJob, ({ hadBy }: LaneGap) => `job ${hadBy!.jobId} has not taken place`],
  ])('ends where the transaction of another program uses the nonce %s first', async (_, lose, suggest) => {
    await lose();
    const runner = fixture.startRunner(SETTINGS);
    const gap = await waitForGap();
    await runner.stop();
    await fixture.sendForeign(41);
    const jobId = await fill(gap);
    fixture.startRunner(SETTINGS);
    expect(await mineUntilEnded(jobId)).toMatchObject({
      state: 'CANCELLED',
      failure: { code: 'NONCE_TAKEN', suggestion: expect.stringContaining(suggest(gap)) },
    });
    expect(await readReceivers()).toEqual([{ nonce: 41, to: RECEIVER }]);
  });

  it.each(['F5', 'F6', 'F7', 'F8', 'F10'] as const)('%s: is filled once by workers that are killed', async (at) => {
    await adoptAhead();
    const runner = fixture.startRunner(SETTINGS);
    const gap = await waitForGap();
    await runner.stop();
    const jobId = await fill(gap);
    const worker = await fixture.startWorker({ crash: { at, signal: 'SIGKILL' } });
    await worker.waitForLine(new RegExp(`crash point ${at}$`), PROCESS_WITHIN_MS);
    await worker.exited;
    fixture.startRunner();
    const { state, steps } = await mineUntilEnded(jobId);
    expect({ state, attempts: steps[0]!.attempts.length }).toEqual({ state: 'FINAL', attempts: 1 });
    expect(await readReceivers()).toEqual([{ nonce: 41, to: fixture.lane.address }]);
  });

  describe('that no job ever had', () => {
    beforeEach(adoptAhead);

    const start = (fills: AutomaticFills | null, rpcUrls = [proxy.rpcUrl, fixture.chain.rpcUrl]) =>
      fixture.startRunner(SETTINGS, { fills, rpcUrls });

    /** Many more looks at the chain, each at another block, than the servers must agree for. */
    const lookOften = async (): Promise<void> => {
      await waitForGap();
      const countLooks = () => proxy.calls.filter((call) => JSON.stringify(call).includes('maxPriorityFee')).length;
      const most = countLooks() + 20;
      await mineUntil('the worker looks often', () => Promise.resolve(countLooks() > most));
    };

    it('is filled by the worker where two RPC servers agree and the setting says so', async () => {
      start(FILLS);
      await mineUntil('it is filled', async () => (await readReceivers()).length === 1);
      expect(await readReceivers()).toEqual([{ nonce: 41, to: fixture.lane.address }]);
      const [jobId] = await fixture.listJobs();
      expect(await fixture.waitForState(jobId!, 'FINAL')).toMatchObject({ operation: 'fillNonce', keyId: 'worker' });
      const events = (await fixture.readEvents()).map(({ type }) => type);
      expect(events).toEqual(['transactionSubmitted', 'transactionConfirmed', 'jobCompleted']);
    });

    it('is not while one of them has a transaction with it that is pending', async () => {
      proxy.intercept('*', async (call, forward) => {
        const answers = [JSON.parse(await forward()) as object].flat();
        const asked = [call as RpcCall | RpcCall[]].flat();
        const isPending = ({ params }: RpcCall) => params[1] === 'pending';
        const changed = answers.map((answer, index) =>
          isPending(asked[index]!) ? { ...answer, result: '0x2a' } : answer,
        );
        return { body: JSON.stringify(Array.isArray(call) ? changed : changed[0]) };
      });
      start(FILLS);
      await lookOften();
      expect(await fixture.listJobs()).toEqual([]);
    });

    it.each([
      ['the setting is off', null, true],
      ['there is one RPC server', FILLS, false],
    ] as const)('is not where %s', async (_, fills, hasTwo) => {
      start(fills, hasTwo ? undefined : [proxy.rpcUrl]);
      await lookOften();
      expect(await fixture.listJobs()).toEqual([]);
    });
  });
});
