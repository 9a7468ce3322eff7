import { encodeFunctionData, erc20Abi, numberToHex, type Hex } from 'viem';

import { waitFor } from '../../../../test/harness/retry.js';
import { USDC_ADDRESS } from '../../../../tools/devnet/protocols/place-contracts.js';
import { useLanes, RECEIVER } from '../../test/lane-fixture.js';
import { TEST_POLICY } from '../../test/transfer-planner.js';
import type { JsonValue, PlannedStep } from '../jobs/job.js';
import { jobKey } from '../jobs/keys.js';
import { PlanFailure, type JobPlan, type JobPlanner } from '../jobs/ports.js';

const SPENDER: Hex = '0x0000000000000000000000000000000000005b3d';
const FAILURE = { code: 'SLIPPAGE', message: 'The price moved.', suggestion: 'Try again.' };

describe('a job', () => {
  const fixture = useLanes();

  const transfer = (value = 1n): PlannedStep => ({ label: 'Transfer', to: RECEIVER, data: '0x', value, gas: 60_000n });
  const approve = (amount: bigint): PlannedStep => ({
    label: `Approve ${amount}`,
    to: USDC_ADDRESS,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [SPENDER, amount] }),
    value: 0n,
    gas: 100_000n,
  });
  const allowance = (amount: bigint): JsonValue => ({
    to: USDC_ADDRESS,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [fixture.lane.address, SPENDER] }),
    is: numberToHex(amount, { size: 32 }),
  });
  const revert = (): PlannedStep => ({ ...transfer(0n), to: USDC_ADDRESS, data: '0xdeadbeef' });

  const planOf = (steps: readonly PlannedStep[], others: Partial<JobPlan> = {}): JobPlan => ({
    steps,
    preview: null,
    floorsHash: 'floors',
    needsApproval: false,
    ...others,
  });
  const plannerOf = (steps: readonly PlannedStep[], others: Partial<JobPlan> = {}): JobPlanner => ({
    plan: (_, { stepIndex }) => Promise.resolve(planOf(steps.slice(stepIndex), others)),
    policy: TEST_POLICY,
  });
  const labelsMined = async () =>
    (await fixture.readMined()).map(({ to, input }) => (input === '0x' ? to : input.slice(0, 10)));
  const APPROVE = '0x095ea7b3';

  it('is planned again before each step', async () => {
    const asked: number[] = [];
    const planner: JobPlanner = {
      plan: (_, { stepIndex }) => {
        asked.push(stepIndex);
        return Promise.resolve(planOf([transfer(BigInt(asked.length)), transfer()].slice(stepIndex)));
      },
    };
    const jobId = await fixture.submit();
    fixture.startRunner({}, { planner });
    await fixture.waitForState(jobId, 'FINAL');
    expect(asked).toEqual([0, 1]);
  });

  it('skips an approval whose allowance is already there, and sends one whose allowance is not', async () => {
    const planner = plannerOf([{ ...approve(5n), holdsIf: allowance(5n) }, transfer()]);
    const first = await fixture.submit();
    fixture.startRunner({}, { planner });
    expect((await fixture.waitForState(first, 'FINAL')).steps.map(({ skipped }) => skipped)).toEqual([false, false]);
    const second = await fixture.submit();
    expect((await fixture.waitForState(second, 'FINAL')).steps.map(({ skipped }) => skipped)).toEqual([true, false]);
    expect(await labelsMined()).toEqual([APPROVE, RECEIVER, RECEIVER]);
  });

  it('ends without a transaction when its plan has no steps', async () => {
    const jobId = await fixture.submit();
    fixture.startRunner({}, { planner: plannerOf([]) });
    await fixture.waitForState(jobId, 'FINAL');
    expect(await fixture.readMined()).toEqual([]);
  });

  it('fails without a nonce when it cannot be planned, and is planned again when the planner has no verdict', async () => {
    let isKnown = false;
    const planner: JobPlanner = {
      plan: () => Promise.reject(isKnown ? new PlanFailure(FAILURE) : new Error('the price server is down')),
    };
    const jobId = await fixture.submit();
    fixture.startRunner({}, { planner });
    await waitFor('two tries', () => fixture.troubles.length >= 2);
    expect((await fixture.readJob(jobId)).state).toBe('PLANNED');
    isKnown = true;
    expect((await fixture.waitForState(jobId, 'PLAN_FAILED')).failure).toEqual(FAILURE);
    expect((await fixture.journal.readLane(fixture.lane)).nextNonce).toBe(41);
  });

  it('waits for an approval where its plan needs one', async () => {
    const jobId = await fixture.submit();
    fixture.startRunner({}, { planner: plannerOf([transfer()], { needsApproval: true }) });
    await fixture.waitForState(jobId, 'AWAITING_APPROVAL');
    expect(await fixture.readMined()).toEqual([]);
    await fixture.journal.approve({ jobId, floorsHash: 'floors', approvedBy: 'key-2' });
    await fixture.waitForState(jobId, 'FINAL');
    expect(await labelsMined()).toEqual([RECEIVER]);
  });

  it('ends with an event when it is not approved in time', async () => {
    const jobId = await fixture.submit();
    fixture.startRunner({ approvalTimeoutMs: 1 }, { planner: plannerOf([transfer()], { needsApproval: true }) });
    const { failure } = await fixture.waitForState(jobId, 'REJECTED');
    expect(failure).toMatchObject({ code: 'APPROVAL_EXPIRED', message: expect.stringContaining('in time') });
    // The wait for the approval is reported only if a pass reads the job before the approval expires.
    const events = (await fixture.readEvents()).filter(({ type }) => type !== 'transactionWaiting');
    expect(events.map(({ type, state, error }) => [type, state, error?.code])).toEqual([
      ['jobNeedsOperator', 'AWAITING_APPROVAL', 'APPROVAL_NEEDED'],
      ['transactionFailed', 'REJECTED', 'APPROVAL_EXPIRED'],
    ]);
    expect(await fixture.journal.approve({ jobId, floorsHash: 'floors', approvedBy: 'key-2' })).toMatchObject({
      reason: 'wrong_state',
    });
    expect(await fixture.readMined()).toEqual([]);
  });

  it('revokes the allowance of its first step when the second one is not approved', async () => {
    const planner: JobPlanner = {
      plan: (_, { stepIndex }) =>
        Promise.resolve(planOf([approve(5n), transfer()].slice(stepIndex), { needsApproval: stepIndex === 1 })),
      undo: () => Promise.resolve([approve(0n)]),
    };
    const jobId = await fixture.submit();
    fixture.startRunner({ approvalTimeoutMs: 1 }, { planner });
    expect((await fixture.waitForState(jobId, 'REJECTED')).failure).toMatchObject({ code: 'APPROVAL_EXPIRED' });
    expect(await labelsMined()).toEqual([APPROVE, APPROVE]);
  });

  it.each([
    [0, '1'],
    [86_400_000, null],
  ])('keeps waiting with a timeout of %d milliseconds', async (approvalTimeoutMs, since) => {
    const asked = await fixture.submit();
    const planner: JobPlanner = {
      plan: (job) => Promise.resolve(planOf([transfer()], { needsApproval: job.id === asked })),
    };
    fixture.startRunner({ approvalTimeoutMs }, { planner });
    await fixture.waitForState(asked, 'AWAITING_APPROVAL');
    if (since !== null) await fixture.redis.hset(jobKey(fixture.lane, asked), 'at', since);
    // Both are looked at meanwhile, the older one first.
    for (let turn = 0; turn < 3; turn++) await fixture.waitForState(await fixture.submit(), 'FINAL');
    expect((await fixture.readJob(asked)).state).toBe('AWAITING_APPROVAL');
  });

  it('revokes its allowance when a later step fails', async () => {
    const planner: JobPlanner = {
      ...plannerOf([approve(5n), revert()]),
      undo: () => Promise.resolve([approve(0n)]),
    };
    const jobId = await fixture.submit();
    fixture.startRunner({}, { planner });
    await fixture.waitForState(jobId, 'REVERTED');
    expect(await labelsMined()).toEqual([APPROVE, '0xdeadbeef', APPROVE]);
  });

  it('revokes its allowance when it is cancelled between two steps', async () => {
    let goOn = (): void => undefined;
    const asked = new Promise<void>((resolve) => (goOn = resolve));
    const planner: JobPlanner = {
      plan: async (_, { stepIndex }) => {
        if (stepIndex === 1) await asked;
        return planOf([approve(5n), transfer()].slice(stepIndex));
      },
      undo: () => Promise.resolve([approve(0n)]),
    };
    const jobId = await fixture.submit();
    fixture.startRunner({}, { planner });
    await waitFor('the second step', async () => (await fixture.readJob(jobId)).stepIndex === 1);
    await fixture.journal.cancel(jobId);
    goOn();
    await fixture.waitForState(jobId, 'CANCELLED');
    expect(await labelsMined()).toEqual([APPROVE, APPROVE]);
  });

  it('fails above its daily limit, and leaves the rest of the limit to other jobs', async () => {
    const spendings = [{ asset: 'native', amount: 6n, limit: 10n }];
    const jobIds = [await fixture.submit(), await fixture.submit()];
    fixture.startRunner({ jobsAtOnce: 1 }, { planner: plannerOf([transfer(6n)], { spendings }) });
    const jobs = await fixture.waitForEnds(jobIds);
    expect(jobs.map(({ state }) => state)).toEqual(['FINAL', 'PLAN_FAILED']);
    expect(jobs[1]!.failure).toMatchObject({ code: 'OVER_LIMIT', message: 'native 4' });
  });

  it('waits for another job that holds the same allowance', async () => {
    const planner = plannerOf([approve(5n), transfer()], { locks: ['allowance'] });
    const jobIds = [await fixture.submit(), await fixture.submit(), await fixture.submit()];
    fixture.startRunner({}, { planner });
    const jobs = await fixture.waitForEnds(jobIds);
    expect(new Set(jobs.map(({ state }) => state))).toEqual(new Set(['FINAL']));
    expect(await labelsMined()).toEqual([APPROVE, RECEIVER, APPROVE, RECEIVER, APPROVE, RECEIVER]);
  });
});
