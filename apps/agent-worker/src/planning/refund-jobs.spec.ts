import type { JobRecord, JsonValue } from '@tollgate/journal';
import { nameRefundJob, type RefundJobInput } from '@tollgate/refunds';

import { RECEIVER } from '../../../../libs/journal/test/lane-fixture.js';
import { PlanningFixture } from '../../test/planning-fixture.js';

const FORBIDDEN = { failure: { code: 'POLICY_VIOLATION' } };

describe('jobs that send refunds', () => {
  let fixture: PlanningFixture;

  beforeAll(async () => {
    fixture = await PlanningFixture.start();
    await fixture.useFundedWallet();
  });

  afterAll(() => fixture.stop());

  /** As the bookkeeper writes it, unless the id is another one. */
  async function write(changes: Partial<RefundJobInput> = {}, id?: string): Promise<JobRecord> {
    const { journal, lane } = fixture.lanes;
    const token = fixture.chain.asset;
    const input: RefundJobInput = {
      refund: 'r1-1',
      attempt: 1,
      payment: 'tx:1:2:3',
      token,
      amount: '10000',
      to: RECEIVER,
      needsApproval: false,
      ...changes,
    };
    const jobId = id ?? nameRefundJob(lane, input);
    const request = { operation: 'refund', wallet: 'refunds', keyId: 'key-1', input: { ...input } as JsonValue };
    await journal.submitNamed({ ...request, lane, jobId });
    return fixture.lanes.readJob(jobId);
  }

  const plan = (job: JobRecord, name = 'refunds') =>
    fixture.createPlanner({ name }).plan(job, { stepIndex: 0, token: 0 });

  it('send exactly what the bookkeeper wrote, with an approval where it says so', async () => {
    const job = await write();
    const { steps, needsApproval } = await plan(job);
    expect(steps).toMatchObject([{ to: expect.stringMatching(new RegExp(fixture.chain.asset, 'i')), value: 0n }]);
    expect(steps[0]?.label).toContain('Send 0.01');
    expect(needsApproval).toBe(false);
    expect(await plan(await write({ refund: 'r2-1', needsApproval: true }))).toMatchObject({ needsApproval: true });
  });

  it('are refused by every other wallet, and that of refunds takes no other job', async () => {
    await expect(plan(await write({ refund: 'r3-1' }), 'main')).rejects.toMatchObject(FORBIDDEN);
    const planner = fixture.createPlanner({ name: 'refunds' });
    const asked = { operation: 'transfer', input: { amount: '0.5', to: RECEIVER } } as const;
    expect(await planner.dryRun(asked)).toMatchObject({ outcome: 'refused', ...FORBIDDEN });
  });

  it('are refused under another id than that of their refund and attempt, as a copy would have', async () => {
    const { lane } = fixture.lanes;
    const copy = nameRefundJob(lane, { refund: 'r4-1', attempt: 2 });
    await expect(plan(await write({ refund: 'r4-1', attempt: 1 }, copy))).rejects.toMatchObject(FORBIDDEN);
  });

  it.each([{ amount: '0' }, { amount: '1.5' }, { amount: '-5' }, { to: '0x12' }, { token: 'USDC' }])(
    'are refused with %j',
    async (changes) => {
      const refund = `r5-${JSON.stringify(changes).length}-${Object.values(changes)[0]?.length}`;
      await expect(plan(await write({ refund, ...changes }))).rejects.toMatchObject(FORBIDDEN);
    },
  );
});
