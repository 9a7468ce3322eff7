import { waitFor } from '../../../../test/harness/retry.js';
import { useLanes, RECEIVER } from '../../test/lane-fixture.js';
import { markOf, TEST_POLICY, transferPlanner } from '../../test/transfer-planner.js';
import type { JobPlanner } from '../jobs/ports.js';

describe('jobs of a lane that need the same allowance', () => {
  const fixture = useLanes();
  let plans: string[];

  beforeEach(async () => {
    plans = [];
  });

  const planner = (): JobPlanner => ({
    policy: TEST_POLICY,
    plan: async (job, context) => {
      plans.push(job.id);
      const plan = await transferPlanner.plan(job, context);
      return { ...plan, locks: ['one'] };
    },
  });
  const submitAll = async (count: number): Promise<string[]> => {
    const jobIds: string[] = [];
    for (let index = 0; index < count; index++) jobIds.push(await fixture.submit({ receivers: [RECEIVER, RECEIVER] }));
    return jobIds;
  };

  it('follow each other, and one that waits is planned only when the allowance is free', async () => {
    const jobIds = await submitAll(8);
    fixture.startRunner({ firstLookMs: 5, reconcileMs: 60_000 }, { planner: planner() });
    await fixture.waitForEnds(jobIds);
    const mined = await fixture.readMined();
    const order = [...new Set(mined.map(({ input }) => input))];
    expect(order).toHaveLength(16);
    const holders = mined.map(({ input }) => jobIds.find((id) => [0, 1].some((step) => markOf(id, step) === input)));
    expect(new Set(holders.filter((_, index) => index % 2 === 0)).size).toBe(8);
    expect(holders.filter((id, index) => index % 2 === 1 && id !== holders[index - 1])).toEqual([]);
    // Each job: once to learn which allowance it needs, and once for each step.
    expect(plans.length).toBeLessThanOrEqual(3 * 8);
  });

  it('continue after the job that holds it was cancelled', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const [first = '', ...others] = await submitAll(3);
    fixture.startRunner({ reconcileMs: 100 }, { planner: planner() });
    await fixture.waitForState(first, 'BROADCAST');
    await waitFor('the others are refused', () => others.every((jobId) => plans.includes(jobId)));
    await fixture.journal.cancel(first);
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    const ended = await fixture.waitForEnds([first, ...others]);
    expect(ended.map(({ state }) => state).slice(1)).toEqual(['FINAL', 'FINAL']);
  });
});
