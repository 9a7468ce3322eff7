import { waitFor } from '../../../../test/harness/retry.js';
import { useLanes } from '../../test/lane-fixture.js';
import { markOf, transferPlanner } from '../../test/transfer-planner.js';
import { PlanFailure, WalletEmptyError, type JobPlanner } from '../jobs/ports.js';

describe('a planner that returns no plan', () => {
  const fixture = useLanes();

  afterEach(async () => {
    jest.restoreAllMocks();
  });

  const expectEachOnce = async (jobIds: readonly string[]) => {
    const mined = await fixture.readMined();
    expect(mined.map(({ input }) => input).sort()).toEqual(jobIds.map((jobId) => markOf(jobId, 0)).sort());
    expect(mined.map(({ nonce }) => nonce)).toEqual(jobIds.map((_, index) => 41 + index));
  };

  /** Counts how often each job was planned, and throws what `refuse` throws. */
  const startPlanner = (refuse: (jobId: string, asked: number) => void | Promise<void>) => {
    const asked = new Map<string, number>();
    const planner: JobPlanner = {
      plan: async (job, context) => {
        const times = (asked.get(job.id) ?? 0) + 1;
        asked.set(job.id, times);
        await refuse(job.id, times);
        return transferPlanner.plan(job, context);
      },
    };
    return { planner, countOf: (jobId: string) => asked.get(jobId) ?? 0 };
  };

  /** A job with its nonce taken and nothing signed, as after a crash. */
  const reserve = async (jobId: string) => {
    const { journal, lane } = fixture;
    const { token } = (await journal.takeLease(lane, 'before', 60_000))!;
    const write = { jobId, stepIndex: 0, token };
    const { steps } = await transferPlanner.plan(await fixture.readJob(jobId), write);
    await journal.putPlan({ ...write, steps, plan: null, floorsHash: 'none', needsApproval: false });
    await journal.reserve({ ...write, maxInFlight: 9 });
    await journal.releaseLease({ lane, owner: 'before', token, untilMs: 0 });
  };

  const readPause = async () => (await fixture.journal.readLane(fixture.lane)).paused?.code ?? null;

  it('pauses the lane when the wallet is empty, is asked about one job meanwhile, and resumes once it is refilled', async () => {
    const { journal, lane } = fixture;
    await fixture.setBalance(0n);
    const first = await fixture.submit();
    await reserve(first);
    const jobIds = [first, ...(await Promise.all(Array.from({ length: 8 }, () => fixture.submit())))];
    const { planner, countOf } = startPlanner(async () => {
      const balance = (await fixture.rpc('eth_getBalance', [lane.address, 'latest'])) as string;
      if (BigInt(balance) === 0n) throw new WalletEmptyError('no gas');
    });
    const resume = jest.spyOn(journal, 'resumeLane');
    const pause = jest.spyOn(journal, 'pauseLane');
    fixture.startRunner({ jobsAtOnce: 1, reconcileMs: 60_000 }, { planner });

    await waitFor('the pause', async () => (await readPause()) === 'INSUFFICIENT_FUNDS');
    await waitFor('some tries', () => countOf(first) > 5);
    expect(jobIds.slice(1).map(countOf)).toEqual(jobIds.slice(1).map(() => 0));
    expect((await journal.readLane(lane)).nextNonce).toBe(42);

    await fixture.setBalance(10n ** 19n);
    const jobs = await fixture.waitForEnds(jobIds);
    expect(new Set(jobs.map(({ state }) => state))).toEqual(new Set(['FINAL']));
    expect([pause.mock.calls.length, resume.mock.calls.length, await readPause()]).toEqual([1, 1, null]);
    expect(fixture.troubles).toEqual([]);
    await expectEachOnce(jobIds);
  });

  it('leaves an empty lane paused over a restart, and resumes when the job that was too expensive is cancelled', async () => {
    const [dear, cheap] = [await fixture.submit(), await fixture.submit()];
    const { planner, countOf } = startPlanner((jobId) => {
      if (jobId === dear) throw new WalletEmptyError('no gas');
    });
    const before = fixture.startRunner({ jobsAtOnce: 1 }, { planner });
    await waitFor('the pause', async () => (await readPause()) === 'INSUFFICIENT_FUNDS');
    await before.stop();
    fixture.startRunner({ jobsAtOnce: 1 }, { planner });
    const asked = countOf(dear);
    await waitFor('some tries', () => countOf(dear) > asked + 3);
    expect(await readPause()).toBe('INSUFFICIENT_FUNDS');
    await fixture.journal.cancel(dear);
    await fixture.waitForState(cheap, 'FINAL');
    expect(await readPause()).toBeNull();
    await expectEachOnce([cheap]);
  });

  it('is asked again after an error without a verdict, which is reported', async () => {
    const jobId = await fixture.submit();
    const { planner, countOf } = startPlanner((_, asked) => {
      if (asked <= 3) throw new Error(`trouble ${asked}`);
    });
    fixture.startRunner({ reconcileMs: 60_000 }, { planner });
    await fixture.waitForState(jobId, 'FINAL');
    expect(countOf(jobId)).toBe(4);
    expect(fixture.troubles.map(String)).toEqual(['Error: trouble 1', 'Error: trouble 2', 'Error: trouble 3']);
    await expectEachOnce([jobId]);
  });

  it('is not asked about a failing job at every look, and the other jobs continue', async () => {
    const sick = await fixture.submit();
    await reserve(sick);
    const { planner, countOf } = startPlanner((jobId) => {
      if (jobId === sick) throw new Error('sick');
    });
    fixture.startRunner({ planRetryMs: 60_000, longestPlanRetryMs: 60_000 }, { planner });
    for (let index = 0; index < 5; index++) await fixture.waitForState(await fixture.submit(), 'BROADCAST');
    expect(countOf(sick)).toBe(1);
    expect(fixture.troubles).toHaveLength(1);
    expect((await fixture.readJob(sick)).state).toBe('RESERVED');
  });

  it('is asked again for the undo of a step after an error without a verdict', async () => {
    let asked = 0;
    const planner: JobPlanner = {
      plan: (job, context) => {
        if (context.stepIndex === 0) return transferPlanner.plan(job, context);
        throw new PlanFailure({ code: 'PRICE', message: 'No.', suggestion: 'Later.' });
      },
      undo: () => (++asked < 3 ? Promise.reject(new Error('not now')) : Promise.resolve([])),
    };
    const [receiver] = [fixture.lane.address];
    const jobId = await fixture.submit({ receivers: [receiver, receiver] });
    fixture.startRunner({ reconcileMs: 60_000 }, { planner });
    expect((await fixture.waitForState(jobId, 'PLAN_FAILED')).failure!.code).toBe('PRICE');
    expect(asked).toBe(3);
  });
});
