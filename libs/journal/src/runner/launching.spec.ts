import { refuseCalls, type Interception, type RpcCall } from '../../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { useProxiedLanes } from '../../test/lane-fixture.js';
import { sampleAttempt, sampleHash, sampleLane, sampleStep } from '../../test/sample-jobs.js';
import { markOf, planTransfer } from '../../test/transfer-planner.js';
import type { CrashPoint } from '../crash-point.js';
import { createJobId } from '../jobs/keys.js';
import type { LaunchRequest } from '../jobs/transition.js';
import { Journal } from '../store/journal.js';
import type { LaneRunner } from './lane-runner.js';

const SYNC = 'eth_sendRawTransactionSync';

const breakOff: Interception = (_, forward) => forward().then(() => 'broken' as const);

describe('a job that is signed before it is submitted', () => {
  const { fixture, proxy } = useProxiedLanes();

  /** The wallet has sent each of these once and nothing else, at nonces without a gap, and each has one attempt. */
  const expectEachOnce = async (jobIds: readonly string[]) => {
    const jobs = await fixture.waitForEnds(jobIds);
    expect(jobs.map(({ state }) => state)).toEqual(jobIds.map(() => 'FINAL'));
    expect(jobs.map(({ steps }) => steps[0]!.attempts.length)).toEqual(jobIds.map(() => 1));
    const mined = await fixture.readMined();
    expect(mined.map(({ input }) => input).sort()).toEqual(jobIds.map((jobId) => markOf(jobId, 0)).sort());
    expect(mined.map(({ nonce }) => nonce)).toEqual(jobIds.map((_, index) => 41 + index));
    const events = (await fixture.readEvents()).filter(({ jobId }) => jobIds.includes(jobId));
    const types = ['transactionSubmitted', 'transactionConfirmed', 'jobCompleted'];
    for (const jobId of jobIds) {
      expect(events.filter((event) => event.jobId === jobId).map(({ type }) => type)).toEqual(types);
    }
  };

  describe('in the journal', () => {
    const request = async (changes: Partial<LaunchRequest> = {}): Promise<LaunchRequest> => {
      const { token } = (await fixture.journal.takeLease(fixture.lane, 'worker', 60_000))!;
      return {
        lane: fixture.lane,
        jobId: createJobId(fixture.lane),
        operation: 'swap',
        input: null,
        wallet: 'main',
        keyId: 'key-1',
        steps: [sampleStep()],
        plan: null,
        floorsHash: 'none',
        token,
        maxInFlight: 9,
        nonce: 41,
        attempt: sampleAttempt(),
        ...changes,
      };
    };

    it('is stored with its plan, its nonce and its bytes in one write', async () => {
      const asked = await request();
      expect(await fixture.journal.launchNamed(asked)).toEqual({
        submitted: { outcome: 'accepted', jobId: asked.jobId, state: 'PLANNED' },
        reserved: { outcome: 'done', state: 'RESERVED', nonce: 41 },
        stored: { outcome: 'done', state: 'SIGNED' },
      });
      const { state, steps } = await fixture.readJob(asked.jobId);
      expect([state, steps.length, steps[0]!.nonce]).toEqual(['SIGNED', 1, 41]);
      expect(steps[0]!.attempts).toMatchObject([asked.attempt]);
    });

    // Prevents: a job that is submitted twice is signed twice.
    it('is the same job when it is submitted again, with the bytes of the first', async () => {
      const asked = await request();
      await fixture.journal.launchNamed(asked);
      const again = await fixture.journal.launchNamed({ ...asked, nonce: 42, attempt: sampleAttempt() });
      expect(again).toMatchObject({ submitted: { outcome: 'known' }, reserved: null, stored: null });
      expect((await fixture.readJob(asked.jobId)).steps[0]!.attempts).toMatchObject([asked.attempt]);
      expect((await fixture.journal.readLane(fixture.lane)).nextNonce).toBe(42);
    });

    // Prevents: bytes under another job's nonce are broadcast.
    it('keeps the nonce that the lane gives it, and discards bytes under another', async () => {
      const asked = await request({ nonce: 44 });
      expect(await fixture.journal.launchNamed(asked)).toMatchObject({
        reserved: { outcome: 'done', nonce: 41 },
        stored: { outcome: 'refused', reason: 'wrong_nonce' },
      });
      const { state, steps } = await fixture.readJob(asked.jobId);
      expect([state, steps[0]!.nonce, steps[0]!.attempts]).toEqual(['RESERVED', 41, []]);
    });

    it('is accepted and waits if the lane is paused, full, or held by another process', async () => {
      await fixture.journal.pauseLane(fixture.lane, { code: 'X', message: 'm', suggestion: 's' });
      const paused = await fixture.journal.launchNamed(await request());
      await fixture.journal.resumeLane(fixture.lane);
      const full = await fixture.journal.launchNamed(await request({ maxInFlight: 0 }));
      const stale = await fixture.journal.launchNamed(await request({ token: 999 }));
      expect([paused.reserved, full.reserved, stale.reserved]).toMatchObject([
        { outcome: 'refused', reason: 'lane_paused' },
        { outcome: 'refused', reason: 'lane_full' },
        null,
      ]);
      for (const { submitted, stored } of [paused, full, stale]) {
        expect([submitted.outcome, stored]).toEqual(['accepted', null]);
      }
      expect((await fixture.journal.readLane(fixture.lane)).nextNonce).toBe(41);
    });

    it('is refused at the limit of transactions that wait for the bookkeeper', async () => {
      const full = new Journal({ redis: fixture.redis, timeoutMs: 30_000, bookLimit: 0 });
      const submitted = { outcome: 'refused', reason: 'outbox_full' };
      expect(await full.launchNamed(await request())).toEqual({ submitted, reserved: null, stored: null });
      expect((await fixture.journal.readLane(fixture.lane)).nextNonce).toBe(41);
    });

    it('is refused by a lane that is not adopted', async () => {
      const lane = sampleLane();
      const asked = await request({ lane, jobId: createJobId(lane) });
      const submitted = { outcome: 'refused', reason: 'not_adopted' };
      expect(await fixture.journal.launchNamed(asked)).toEqual({ submitted, reserved: null, stored: null });
    });
  });

  describe('on the chain', () => {
    /** A runner that polls the chain only rarely. */
    const startRunner = async (pollMs = 600_000): Promise<LaneRunner> => {
      // It does not resend what a busy machine answers late either.
      const rarely = { pollMs, reconcileMs: pollMs, resendAfterMs: pollMs, replaceAfterMs: pollMs, leaseMs: 30_000 };
      const rhythm = pollMs < 1000 ? { pollMs } : rarely;
      const runner = fixture.startRunner({ ...rhythm, firstLookMs: 5 }, { rpcUrls: [proxy.rpcUrl] });
      await waitFor('the lane has room', () => Promise.resolve(runner.hasRoom));
      proxy.calls.length = 0;
      return runner;
    };
    const launch = async (runner: LaneRunner): Promise<string> => {
      const jobId = createJobId(fixture.lane);
      expect(await runner.launch(planTransfer(fixture.lane, jobId))).toMatchObject({ outcome: 'accepted' });
      return jobId;
    };
    const countSends = (method: string) => JSON.stringify(proxy.calls).split(`"${method}"`).length - 1;
    const answerSync = (interception: Interception) => {
      proxy.intercept('*', (call, forward) => {
        if (!JSON.stringify(call).includes(SYNC)) return forward().then((body) => ({ body }));
        return interception(call, forward);
      });
    };

    it('is settled by the receipt that the sending returns', async () => {
      const runner = await startRunner();
      const jobIds = [await launch(runner), await launch(runner), await launch(runner)];
      await expectEachOnce(jobIds);
      expect([countSends(SYNC), countSends('eth_sendRawTransaction')]).toEqual([3, 0]);
    });

    // Prevents: each settlement costs one more round trip to the RPC server than needed.
    it('reads its block while its receipt is on the way', async () => {
      const runner = await startRunner();
      let [tellMined, tellLooked] = [() => {}, () => {}];
      const mined = new Promise<void>((resolve) => (tellMined = resolve));
      const looked = new Promise<void>((resolve) => (tellLooked = resolve));
      proxy.intercept('*', async (call, forward) => {
        const isLook = call.method === 'eth_getBlockByNumber';
        if (isLook) await mined;
        const body = await forward();
        if (isLook) tellLooked();
        if (!JSON.stringify(call).includes(SYNC)) return { body };
        tellMined();
        await looked;
        return { body };
      });
      await expectEachOnce([await launch(runner)]);
      expect(proxy.calls.filter(({ method }) => method === 'eth_getBlockByNumber')).toHaveLength(1);
    });

    it('is signed again if another job has taken its nonce meanwhile', async () => {
      const runner = await startRunner();
      const other = await fixture.submit();
      runner.wake(other);
      const jobIds = await Promise.all(Array.from({ length: 5 }, () => launch(runner)));
      await fixture.waitForEnds([other]);
      await expectEachOnce([other, ...jobIds]);
    });

    it('is sent with a plain request to a server that does not wait, which is not asked to wait again for a while', async () => {
      const refuse = ({ method }: RpcCall) => (method === SYNC ? 'the method does not exist' : null);
      answerSync(refuseCalls(fixture.chain.rpcUrl, refuse));
      const runner = await startRunner(20);
      const first = await launch(runner);
      await fixture.waitForEnds([first]);
      await expectEachOnce([first, await launch(runner)]);
      expect(countSends(SYNC)).toBe(1);
    });

    it.each<[string, Interception]>([
      ['does not answer', () => 'silence'],
      ['disconnects after it has accepted the bytes', breakOff],
      ['answers with a hash only', () => ({ body: JSON.stringify([{ jsonrpc: '2.0', id: 1, result: sampleHash() }]) })],
      ['limits the rate', () => ({ status: 429, body: 'slow down' })],
    ])('is mined once by a server that %s', async (_, interception) => {
      answerSync(interception);
      await expectEachOnce([await launch(await startRunner(20))]);
    });

    // Prevents: a sequencer's announcement, or the receipt of a node that missed a reorganisation, counts as settled.
    it('is not settled by a receipt whose block is not the one at its height', async () => {
      answerSync(async (_, forward) => {
        const answers = JSON.parse(await forward()) as { result: { blockHash: string; transactionHash?: string } }[];
        for (const { result } of answers) if (result.transactionHash) result.blockHash = sampleHash();
        return { body: JSON.stringify(answers) };
      });
      const jobId = await launch(await startRunner(20));
      await expectEachOnce([jobId]);
      const mined = (await fixture.readJob(jobId)).steps[0]!.mined!;
      const block = (await fixture.rpc('eth_getBlockByHash', [mined.blockHash, false])) as { number: string } | null;
      expect(Number(block?.number)).toBe(mined.blockNumber);
    });

    // Prevents: bytes that no server accepts hold up the nonces behind theirs until their job is looked at again.
    it('is cancelled at once if the server will never accept its bytes', async () => {
      const runner = await startRunner();
      let sends = 0;
      // It is asked to wait for the block, then not to wait; the third bytes are the cancel's.
      const isRefused = (method: string) => method.startsWith('eth_sendRawTransaction') && ++sends <= 2;
      const refuse = refuseCalls(fixture.chain.rpcUrl, ({ method }) =>
        isRefused(method) ? 'exceeds block gas limit' : null,
      );
      proxy.intercept('*', refuse);
      const jobId = await launch(runner);
      await waitFor('the cancel', async () => (await fixture.readMined()).length === 1);
      const { steps } = await fixture.readJob(jobId);
      expect(steps[0]!.attempts.map(({ kind }) => kind)).toEqual(['first', 'cancel']);
    });

    it('waits its turn if no runner holds the lane', async () => {
      const runner = fixture.startRunner({ leaseMs: 600_000 });
      const jobId = await launch(runner);
      await expectEachOnce([jobId]);
    });

    it.each(['F3', 'F4', 'F5', 'F6', 'F7', 'F8', 'F10', 'F12'] as const)(
      '%s: survives a kill',
      async (at: CrashPoint) => {
        const jobId = createJobId(fixture.lane);
        const worker = await fixture.startWorker({ crash: { at, signal: 'SIGKILL' }, launch: jobId });
        expect(await worker.exited).toMatchObject({ signal: 'SIGKILL' });
        const isWritten = !['F3', 'F5', 'F12'].includes(at);
        expect((await fixture.journal.readJob(jobId)) !== null).toBe(isWritten);
        // The caller submits again under the same id, which is the same job.
        const next = fixture.startRunner();
        await waitFor('the next runner holds the lane', () => Promise.resolve(next.hasRoom));
        await next.launch(planTransfer(fixture.lane, jobId));
        await expectEachOnce([jobId]);
      },
    );
  });
});
