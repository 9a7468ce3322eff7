import { RECEIVER } from '../../../../libs/journal/test/lane-fixture.js';
import { PlanningFixture } from '../../test/planning-fixture.js';

describe('jobs of another name of the account', () => {
  let fixture: PlanningFixture;

  beforeAll(async () => {
    fixture = await PlanningFixture.start();
  });

  afterAll(() => fixture.stop());

  beforeEach(() => fixture.useFundedWallet());

  afterEach(() => fixture.endLanes());

  it('fail before they take a nonce, and are not told the name', async () => {
    fixture.startLane({ name: 'treasury' });
    const job = await fixture.run('transfer', { amount: '1', to: RECEIVER });
    expect(job).toMatchObject({ wallet: 'main', state: 'PLAN_FAILED', failure: { code: 'POLICY_VIOLATION' } });
    expect(JSON.stringify(job.failure)).not.toContain('treasury');
    expect((await fixture.lanes.journal.readLane(fixture.lanes.lane)).nextNonce).toBe(41);
  });

  it('fail although they were approved under their own', async () => {
    fixture.startLane({ approvalAbove: { '0x0': '0.5' } });
    const jobId = await fixture.submit('transfer', { amount: '1', to: RECEIVER });
    const { approval } = await fixture.lanes.waitForState(jobId, 'AWAITING_APPROVAL');
    await fixture.endLanes();
    const { floorsHash } = approval!;
    await fixture.lanes.journal.approve({ jobId, floorsHash, approvedBy: 'key-2' });
    fixture.startLane({ name: 'treasury' });
    await fixture.lanes.waitForState(jobId, 'PLAN_FAILED');
  });

  it('are carried out to their end if they have a nonce', async () => {
    await fixture.lanes.rpc('evm_setAutomine', [false]);
    const jobId = await fixture.submit('swap', { amount: '10', fromToken: 'USDC', toToken: 'WSEI' });
    fixture.startLane();
    await fixture.lanes.waitForState(jobId, 'BROADCAST');
    await fixture.endLanes();
    await fixture.lanes.rpc('evm_mine');
    await fixture.lanes.rpc('evm_setAutomine', [true]);
    fixture.startLane({ name: 'treasury' });
    const { steps } = await fixture.lanes.waitForState(jobId, 'FINAL');
    expect(steps).toHaveLength(2);
  });
});
