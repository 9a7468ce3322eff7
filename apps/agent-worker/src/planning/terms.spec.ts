import { readStoredPlan } from '@tollgate/agent-jobs';
import { AgentKit } from '@tollgate/agent-kit';
import type { JobRecord } from '@tollgate/journal';
import { encodeFunctionData, parseAbi, parseUnits } from 'viem';

import { RECEIVER } from '../../../../libs/journal/test/lane-fixture.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { openPools } from '../../../../test/harness/stack/create-pool.js';
import { DEPLOYER, sendAsDeployer } from '../../../../tools/devnet/protocols/deployer.js';
import { PlanningFixture } from '../../test/planning-fixture.js';

const mintAbi = parseAbi(['function mint(address to, uint256 amount)']);
const OTHER = '0x00000000000000000000000000000000000B0b00';

describe('what a wallet may do', () => {
  let fixture: PlanningFixture;
  let trader: AgentKit;

  beforeAll(async () => {
    fixture = await PlanningFixture.start();
    const { rpcUrl, accounts } = fixture.chain;
    trader = new AgentKit(accounts[0]!.privateKey, 'offline', { rpcUrl, monitor: { intervalMs: 20, attempts: 1500 } });
  });

  afterAll(() => fixture.stop());

  beforeEach(() => fixture.useFundedWallet());

  afterEach(() => fixture.endLanes());

  const SWAP = { amount: '10', fromToken: 'USDC', toToken: 'WSEI' };
  const POSITION = { tokenA: 'USDC', tokenB: 'WSEI', amountA: '600', amountB: '20' };
  const asked = (jobId: string): Promise<JobRecord> => fixture.lanes.waitForState(jobId, 'AWAITING_APPROVAL');
  const agree = (job: JobRecord) =>
    fixture.lanes.journal.approve({ jobId: job.id, floorsHash: job.approval!.floorsHash, approvedBy: 'key-2' });
  /** Approves a job whose bounds no longer hold: it asks for an approval of new ones. */
  const askedAnew = async (before: JobRecord): Promise<JobRecord> => {
    await agree(before);
    await waitFor('the job has new bounds', async () => {
      const { approval } = await fixture.lanes.readJob(before.id);
      return approval?.floorsHash !== before.approval!.floorsHash;
    });
    const job = await fixture.lanes.readJob(before.id);
    expect(job).toMatchObject({ state: 'AWAITING_APPROVAL', approval: { approvedBy: null } });
    return job;
  };
  /** Other traders buy what the wallet is about to buy, which raises the price. */
  const trade = async (amount: string): Promise<void> => {
    expect(await trader.swap(amount, 'USDC', 'WSEI')).toMatchObject({ status: 'success' });
  };

  describe('without an approval', () => {
    const approvalAbove = { USDC: '5', '0x0': '2' };

    it('is a job that spends no more than the configured amount of its token', async () => {
      fixture.startLane({ approvalAbove });
      expect(await fixture.run('transfer', { amount: '5', to: RECEIVER, token: 'USDC' })).toMatchObject({
        state: 'FINAL',
        approval: null,
      });
      const jobIds = [
        await fixture.submit('transfer', { amount: '5.000001', to: RECEIVER, token: 'USDC' }),
        await fixture.submit('transfer', { amount: '2.1', to: RECEIVER }),
        // No amount is configured for it, so it would bypass the others.
        await fixture.submit('transfer', { amount: '0.1', to: RECEIVER, token: 'WSEI' }),
      ];
      for (const jobId of jobIds) expect(readStoredPlan(await asked(jobId))).toMatchObject({ needsApproval: true });
      expect(await fixture.lanes.readMined()).toHaveLength(1);
    });

    it('is not the transfer of an ERC-721 token', async () => {
      fixture.startLane({ approvalAbove });
      const minted = { contractAddress: fixture.chain.contracts.nft, tokenId: `${BigInt(fixture.address)}` };
      expect(await fixture.run('mintERC721', minted)).toMatchObject({ state: 'FINAL', approval: null });
      const job = await asked(await fixture.submit('transferERC721', { ...minted, to: RECEIVER }));
      expect(readStoredPlan(job)).toMatchObject({ needsApproval: true, spends: [] });
      await agree(job);
      await fixture.lanes.waitForState(job.id, 'FINAL');
    });

    it('includes a swap at a higher price, within the approved bounds', async () => {
      fixture.startLane({ approvalAbove });
      const before = await asked(await fixture.submit('swap', SWAP));
      const agreed = readStoredPlan(before)!;
      await trade('500');
      expect(await agree(before)).toMatchObject({ outcome: 'done' });
      const job = await fixture.lanes.waitForState(before.id, 'FINAL');
      expect(job.approval).toEqual({ floorsHash: agreed.floorsHash, approvedBy: 'key-2' });
      // With less slippage tolerance than the swap would have had, since a part of it was used up.
      const plan = readStoredPlan(job)!;
      expect(plan.slippageBps).toBeLessThan(agreed.slippageBps!);
      expect(Number(plan.receives[0]!.amount)).toBeGreaterThanOrEqual(Number(agreed.receives[0]!.amount));
    });

    it('is not a swap above the approved price: it needs a new approval', async () => {
      fixture.startLane({ approvalAbove });
      const before = await asked(await fixture.submit('swap', { ...SWAP, slippageBps: 10 }));
      await trade('5000');
      await agree(await askedAnew(before));
      await fixture.lanes.waitForState(before.id, 'FINAL');
    });

    it('includes an approved repayment, and the interest since', async () => {
      fixture.startLane();
      await fixture.run('mintLending', { symbol: 'WBTC', amount: '0.05' });
      await fixture.run('borrowLending', { symbol: 'WSEI', amount: '100' });
      await fixture.endLanes();
      fixture.startLane({ approvalAbove });
      const before = await asked(await fixture.submit('repayLending', { symbol: 'WSEI', amount: 'MAX' }));
      await fixture.lanes.rpc('anvil_mine', ['0x64']);
      await agree(before);
      const job = await fixture.lanes.waitForState(before.id, 'FINAL');
      expect(job.approval).toEqual({ floorsHash: before.approval!.floorsHash, approvedBy: 'key-2' });
    });

    it('includes a position of the two approved amounts', async () => {
      fixture.startLane({ approvalAbove });
      const before = await asked(await fixture.submit('addLiquidity', POSITION));
      // The price moves by 0.3 %.
      await trade('9000');
      await agree(before);
      const job = await fixture.lanes.waitForState(before.id, 'FINAL');
      expect(job.approval).toEqual({ floorsHash: before.approval!.floorsHash, approvedBy: 'key-2' });
      expect(readStoredPlan(job)!.slippageBps).toBeLessThan(readStoredPlan(before)!.slippageBps!);
    });

    it('is not a position at another price: it needs a new approval', async () => {
      fixture.startLane({ approvalAbove });
      const before = await asked(await fixture.submit('addLiquidity', POSITION));
      // The price moves by 20 %.
      for (const amount of ['200000', '200000', '180000']) await trade(amount);
      await agree(await askedAnew(before));
      await fixture.lanes.waitForState(before.id, 'FINAL');
    });

    describe('of a position whose pool is left to the planner', () => {
      const input = { tokenA: 'USDC', tokenB: 'WBTC', amountA: '600', amountB: '0.1' };
      /** Holds more than the other pools of the pair. */
      const openLargest = async (fee: 500 | 10000, usdc: string, wbtc: string): Promise<void> => {
        const { USDC, WBTC } = fixture.chain.contracts.tokens;
        const sides = [
          { address: USDC, amount: parseUnits(usdc, 6) },
          { address: WBTC, amount: parseUnits(wbtc, 8) },
        ] as const;
        const mint = ({ address, amount }: (typeof sides)[number]) => ({
          to: address,
          data: encodeFunctionData({ abi: mintAbi, args: [DEPLOYER, amount] }),
        });
        await sendAsDeployer(fixture.chain.rpcUrl, sides.map(mint));
        await openPools(fixture.chain, [{ fee, sides }]);
      };

      it('includes the approved pool when another one holds more by then', async () => {
        fixture.startLane({ approvalAbove });
        const before = await asked(await fixture.submit('addLiquidity', input));
        await openLargest(500, '6600000', '110');
        await agree(before);
        const job = await fixture.lanes.waitForState(before.id, 'FINAL');
        expect(job.approval).toEqual({ floorsHash: before.approval!.floorsHash, approvedBy: 'key-2' });
        expect(readStoredPlan(job)!.summary).toContain('with a fee of 0.3 %');
      });

      it('is not another pool at another price: it needs a new approval', async () => {
        fixture.startLane({ approvalAbove });
        const before = await asked(await fixture.submit('addLiquidity', input));
        // One WBTC costs 5 % more.
        await openLargest(10000, '7560000', '120');
        const job = await askedAnew(before);
        expect(readStoredPlan(job)!.summary).toContain('with a fee of 1 %');
      });
    });
  });

  it('is limited per day across all jobs, and a failed job gives its share back', async () => {
    const usdc = await fixture.readBalance(fixture.chain.contracts.tokens.USDC);
    fixture.startLane({ policy: { maxPerDay: { USDC: '15' } } });
    const send = (amount: string) => fixture.run('transfer', { amount, to: RECEIVER, token: 'USDC' });
    expect(await send('10')).toMatchObject({ state: 'FINAL' });
    const over = await fixture.run('swap', { ...SWAP, amount: '6' });
    expect(over).toMatchObject({ state: 'PLAN_FAILED', failure: { code: 'DAILY_LIMIT' } });
    expect(await send('5')).toMatchObject({ state: 'FINAL' });
    expect(await send('0.000001')).toMatchObject({ state: 'PLAN_FAILED', failure: { code: 'DAILY_LIMIT' } });
    expect(usdc - (await fixture.readBalance(fixture.chain.contracts.tokens.USDC))).toBe(parseUnits('15', 6));
  });

  it('is limited by a policy, which applies to payments under their own name', async () => {
    const policy = { operations: ['transfer', 'payment'], recipients: [RECEIVER] as const };
    fixture.startLane({ policy });
    expect(await fixture.run('transfer', { amount: '1', to: RECEIVER })).toMatchObject({ state: 'FINAL' });
    const refused = [
      await fixture.run('transfer', { amount: '1', to: OTHER }),
      await fixture.run('stake', { amount: '1' }),
    ];
    for (const job of refused)
      expect(job).toMatchObject({ state: 'PLAN_FAILED', failure: { code: 'POLICY_VIOLATION' } });
  });

  /** A swap whose allowance is mined, and whose second step is not planned yet. */
  const startSwap = async (input: Parameters<typeof fixture.submit>[1]): Promise<string> => {
    const jobId = await fixture.submit('swap', input);
    fixture.startLane({
      meddle: (_, stepIndex) => {
        if (stepIndex === 1) throw new Error('not yet');
      },
    });
    await waitFor('the approval is mined', async () => (await fixture.lanes.readJob(jobId)).stepIndex === 1);
    await fixture.endLanes();
    return jobId;
  };

  it('is bound to the prices at which its first transaction was sent', async () => {
    const { tokens, uniswapV3 } = fixture.chain.contracts;
    const jobId = await startSwap({ ...SWAP, slippageBps: 10 });
    await trade('5000');
    fixture.startLane();
    const [job] = await fixture.lanes.waitForEnds([jobId]);
    expect(job).toMatchObject({ state: 'PLAN_FAILED', failure: { code: 'SLIPPAGE' } });
    expect(await fixture.readAllowance(tokens.USDC, uniswapV3.router)).toBe(0n);
  });

  it('is a swap with the rest of its slippage tolerance after its first transaction', async () => {
    const jobId = await startSwap(SWAP);
    const announced = readStoredPlan(await fixture.lanes.readJob(jobId))!;
    await trade('5000');
    fixture.startLane();
    const [job] = await fixture.lanes.waitForEnds([jobId]);
    expect(job).toMatchObject({ state: 'FINAL' });
    const plan = readStoredPlan(job!)!;
    expect(plan.slippageBps).toBeLessThan(announced.slippageBps!);
    expect(plan.floorsHash).toBe(announced.floorsHash);
  });

  it('is checked against the current policy at each signature', async () => {
    const { tokens, uniswapV3 } = fixture.chain.contracts;
    const jobId = await startSwap(SWAP);
    expect(await fixture.readAllowance(tokens.USDC, uniswapV3.router)).toBe(10_000_000n);
    fixture.startLane({ policy: { operations: ['transfer'] } });
    const [job] = await fixture.lanes.waitForEnds([jobId]);
    expect(job).toMatchObject({ state: 'PLAN_FAILED', failure: { code: 'POLICY_VIOLATION' } });
    expect(await fixture.readAllowance(tokens.USDC, uniswapV3.router)).toBe(0n);
  });

  describe('in a dry run', () => {
    it('is planned as a job is, and nothing is written or sent', async () => {
      const planner = fixture.createPlanner({ approvalAbove: { USDC: '5' } });
      expect(await planner.dryRun({ operation: 'swap', input: SWAP })).toMatchObject({
        outcome: 'planned',
        plan: {
          summary: expect.stringContaining('Swap 10 USDC for at least'),
          spends: [{ symbol: 'USDC', amount: '10' }],
          receives: [{ symbol: 'WSEI' }],
          slippageBps: 100,
          floorsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
          needsApproval: true,
        },
      });
      expect(await fixture.lanes.listJobs()).toEqual([]);
      expect(await fixture.lanes.readMined()).toEqual([]);
    });

    it('reports why a job would fail, or that this is unknown', async () => {
      const planner = fixture.createPlanner();
      expect(await planner.dryRun({ operation: 'stake', input: { amount: '0.0000001' } })).toMatchObject({
        outcome: 'refused',
        failure: { code: 'BELOW_MINIMUM' },
      });
      expect(await planner.dryRun({ operation: 'payment', input: { url: 'nowhere' } })).toMatchObject({
        outcome: 'refused',
      });
      const away = fixture.createPlanner({ chain: { rpcUrls: ['http://127.0.0.1:1'] } });
      expect(await away.dryRun({ operation: 'stake', input: { amount: '1' } })).toMatchObject({
        outcome: 'unavailable',
      });
    });

    it('quotes the symbol that a token reports', async () => {
      const planner = fixture.createPlanner();
      const { EVIL } = fixture.chain.contracts.tokens;
      const reply = await planner.dryRun({ operation: 'approve', input: { token: EVIL, spender: OTHER, amount: '1' } });
      expect(JSON.stringify(reply)).not.toMatch(/[\u0000-\u001f\u202e]/);
    });
  });
});
