import { waitFor } from '../../../../test/harness/retry.js';
import { useLanes, RECEIVER } from '../../test/lane-fixture.js';
import { markOf, transferPlanner } from '../../test/transfer-planner.js';
import type { JobPlanner } from '../jobs/ports.js';

describe('a lane', () => {
  const fixture = useLanes();

  const TAKE_BACK = { label: 'Take back', to: RECEIVER, data: '0x', value: 1n, gas: 60_000n } as const;
  const withUndo = (undo: JobPlanner['undo']): JobPlanner => ({ ...transferPlanner, ...(undo && { undo }) });

  it('revokes what a job has left after its last step, once, and before it ends', async () => {
    const asked: number[] = [];
    const planner = withUndo((job) => {
      asked.push(job.stepIndex);
      return Promise.resolve([TAKE_BACK]);
    });
    const jobId = await fixture.submit({ receivers: [RECEIVER, RECEIVER] });
    fixture.startRunner({}, { planner });
    const job = await fixture.waitForState(jobId, 'FINAL');
    expect(asked).toEqual([1]);
    expect(job.steps.map(({ label }) => label)).toEqual(['Transfer 0', 'Transfer 1', 'Take back']);
    const mined = await fixture.readMined();
    expect(mined.map(({ input }) => input)).toEqual([markOf(jobId, 0), markOf(jobId, 1), '0x']);
    const completed = (await fixture.readEvents()).filter(({ type }) => type === 'jobCompleted');
    expect(completed).toMatchObject([{ jobId, txHash: mined[1]!.hash }]);
  });

  it('completes a job whose leftovers cannot be revoked', async () => {
    const planner = withUndo(() => Promise.resolve([{ ...TAKE_BACK, to: fixture.chain.asset, data: '0x12345678' }]));
    const jobId = await fixture.submit({ receivers: [RECEIVER, RECEIVER] });
    fixture.startRunner({}, { planner });
    expect(await fixture.waitForState(jobId, 'FINAL')).toMatchObject({ failure: null });
    expect(await fixture.readMined()).toHaveLength(3);
  });

  it('revokes it too when the job was cancelled too late', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const planner = withUndo(() => Promise.resolve([TAKE_BACK]));
    const jobId = await fixture.submit({ receivers: [RECEIVER, RECEIVER] });
    const before = fixture.startRunner({}, { planner });
    await fixture.waitForState(jobId, 'BROADCAST');
    await fixture.rpc('evm_mine');
    await waitFor('the last step', async () => {
      const { stepIndex, state } = await fixture.readJob(jobId);
      return stepIndex === 1 && state === 'BROADCAST';
    });
    await before.stop();
    expect(await fixture.journal.cancel(jobId)).toMatchObject({ outcome: 'cancelling' });
    await fixture.rpc('evm_mine');
    await fixture.rpc('evm_setAutomine', [true]);
    fixture.startRunner({}, { planner });
    expect(await fixture.waitForState(jobId, 'FINAL')).toMatchObject({ failure: null });
    expect((await fixture.readMined()).map(({ input }) => input)).toEqual([markOf(jobId, 0), markOf(jobId, 1), '0x']);
  });

  it('plans again once it has locked what a plan relies on', async () => {
    let asked = 0;
    const planner: JobPlanner = {
      plan: async (...args) => {
        asked++;
        return { ...(await transferPlanner.plan(...args)), locks: ['one'], reliesOnLocked: true };
      },
    };
    const jobId = await fixture.submit();
    fixture.startRunner({}, { planner });
    await fixture.waitForState(jobId, 'FINAL');
    expect(asked).toBe(2);
    expect(await fixture.readMined()).toHaveLength(1);
  });
});
