import type { JobRecord, JsonValue } from '@tollgate/journal';
import { AGENT_OPERATIONS, type AgentOperation } from '@tollgate/protocol';
import { erc721Abi, formatUnits, parseAbi, parseEther, parseUnits, type Hex } from 'viem';

import { RECEIVER } from '../../../../libs/journal/test/lane-fixture.js';
import { startPaidServer } from '../../../../packages/client/test/paid-server.js';
import { PlanningFixture } from '../../test/planning-fixture.js';

const marketAbi = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function borrowBalanceStored(address account) view returns (uint256)',
]);
const perpsAbi = parseAbi(['function freeMargin(address account) view returns (uint256)']);
const tried = new Set<string>();

describe('every operation of jobs', () => {
  let fixture: PlanningFixture;

  beforeAll(async () => {
    fixture = await PlanningFixture.start();
  });

  afterAll(() => fixture.stop());

  beforeEach(() => fixture.useFundedWallet());

  afterEach(() => fixture.endLanes());

  /** Completes a job, each step by a new worker, and checks that every step was mined once and nothing else. */
  async function carryOut(
    operation: AgentOperation,
    input: Record<string, JsonValue>,
    calls: readonly string[],
  ): Promise<JobRecord> {
    tried.add(operation);
    const before = (await fixture.lanes.readMined()).length;
    const job = await fixture.runByManyWorkers(operation, input);
    expect([job.state, job.failure]).toEqual(['FINAL', null]);
    expect(job.steps.map(({ label }) => label)).toEqual(calls.map((call): unknown => expect.stringContaining(call)));
    const mined = (await fixture.lanes.readMined()).slice(before);
    expect(mined.map(({ hash, input: data }) => [hash, data])).toEqual(
      job.steps.map((step) => [step.mined?.hash, step.data]),
    );
    for (const { to, data } of job.steps) {
      if (data.startsWith('0x095ea7b3') && operation !== 'approve') {
        expect(await fixture.readAllowance(to, `0x${data.slice(34, 74)}`)).toBe(0n);
      }
    }
    return job;
  }

  const contracts = () => fixture.chain.contracts;
  const balanceOf = (symbol: 'USDC' | 'WSEI' | 'WBTC' | 'stSEI') => fixture.readBalance(contracts().tokens[symbol]);
  const nativeBalance = (address: Hex = fixture.address) => fixture.client.getBalance({ address });
  const readMarket = (symbol: 'USDC' | 'WSEI' | 'WBTC', functionName: 'balanceOf' | 'borrowBalanceStored') =>
    fixture.client.readContract({
      address: contracts().lending.markets[symbol],
      abi: marketAbi,
      functionName,
      args: [fixture.address],
    });
  const freeMargin = () =>
    fixture.client.readContract({
      address: contracts().perps,
      abi: perpsAbi,
      functionName: 'freeMargin',
      args: [fixture.address],
    });
  const ownerOf = (tokenId: bigint) =>
    fixture.client.readContract({ address: contracts().nft, abi: erc721Abi, functionName: 'ownerOf', args: [tokenId] });
  const positionsOf = async (): Promise<bigint[]> => {
    const manager = { address: contracts().uniswapV3.positionManager, abi: erc721Abi };
    const abi = parseAbi(['function tokenOfOwnerByIndex(address owner, uint256 index) view returns (uint256)']);
    const count = await fixture.client.readContract({ ...manager, functionName: 'balanceOf', args: [fixture.address] });
    const read = (_: unknown, index: number) =>
      fixture.client.readContract({
        address: manager.address,
        abi,
        functionName: 'tokenOfOwnerByIndex',
        args: [fixture.address, BigInt(index)],
      });
    return Promise.all(Array.from({ length: Number(count) }, read));
  };

  it('transfer', async () => {
    const [usdc, native] = [
      await fixture.readBalance(contracts().tokens.USDC, RECEIVER),
      await nativeBalance(RECEIVER),
    ];
    await carryOut('transfer', { amount: '2.5', to: RECEIVER, token: 'USDC' }, ['Send 2.5 USDC']);
    await carryOut('transfer', { amount: '0.25', to: RECEIVER }, ['Send 0.25 SEI']);
    expect((await fixture.readBalance(contracts().tokens.USDC, RECEIVER)) - usdc).toBe(parseUnits('2.5', 6));
    expect((await nativeBalance(RECEIVER)) - native).toBe(parseEther('0.25'));
  });

  it('transfer of a market’s token, which reports by an event that it refused', async () => {
    await carryOut('mintLending', { symbol: 'USDC', amount: '1000' }, ['Approve', 'Supply 1000 USDC']);
    const held = await readMarket('USDC', 'balanceOf');
    // Market tokens have 8 decimals: the wallet has enough for one of the two.
    const input = { amount: formatUnits((held * 6n) / 10n, 8), to: RECEIVER, token: contracts().lending.markets.USDC };
    await fixture.lanes.rpc('evm_setAutomine', [false]);
    const jobIds = [await fixture.submit('transfer', input), await fixture.submit('transfer', input)];
    fixture.startLane();
    for (const jobId of jobIds) await fixture.lanes.waitForState(jobId, 'BROADCAST');
    await fixture.lanes.rpc('evm_mine');
    await fixture.lanes.rpc('evm_setAutomine', [true]);
    const [sent, refused] = await fixture.lanes.waitForEnds(jobIds);
    expect(sent).toMatchObject({ state: 'FINAL' });
    expect(refused).toMatchObject({ state: 'REVERTED', failure: { code: 'REVERTED' } });
    const { status } = await fixture.client.getTransactionReceipt({ hash: refused!.steps[0]!.mined!.hash });
    expect(status).toBe('success');
  });

  it('approve, by way of 0 where there is already an allowance', async () => {
    const input = { token: 'USDC', spender: RECEIVER, amount: '3' };
    const readAllowance = () => fixture.readAllowance(contracts().tokens.USDC, RECEIVER);
    await carryOut('approve', input, ['take exactly 3 USDC']);
    await carryOut('approve', { ...input, amount: '4' }, ['to 0 first', 'take exactly 4 USDC']);
    expect(await readAllowance()).toBe(4_000_000n);
    await carryOut('approve', { ...input, amount: '0' }, ['Take back']);
    expect(await readAllowance()).toBe(0n);
  });

  it('mintERC721, transferERC721', async () => {
    const input = { contractAddress: contracts().nft, tokenId: `${BigInt(fixture.address)}` };
    await carryOut('mintERC721', input, ['Mint token']);
    expect((await ownerOf(BigInt(fixture.address))).toLowerCase()).toBe(fixture.address);
    await carryOut('transferERC721', { ...input, to: RECEIVER }, ['Send token']);
    expect((await ownerOf(BigInt(fixture.address))).toLowerCase()).toBe(RECEIVER);
  });

  it('swap, including wrapping', async () => {
    const [usdc, wsei] = [await balanceOf('USDC'), await balanceOf('WSEI')];
    const swapped = await carryOut('swap', { amount: '10', fromToken: 'USDC', toToken: 'WSEI' }, ['Approve', 'Swap']);
    expect(usdc - (await balanceOf('USDC'))).toBe(parseUnits('10', 6));
    const received = (await balanceOf('WSEI')) - wsei;
    const { receives } = swapped.plan as { receives: { amount: string }[] };
    expect(received).toBeGreaterThanOrEqual(parseEther(receives[0]!.amount));

    await carryOut('swap', { amount: '1', fromToken: '0x0', toToken: 'USDC' }, ['Swap']);
    await carryOut('swap', { amount: '2', fromToken: '0x0', toToken: 'WSEI' }, ['Wrap']);
    await carryOut('swap', { amount: '1', fromToken: 'WSEI', toToken: '0x0' }, ['Unwrap']);
    expect((await balanceOf('WSEI')) - wsei - received).toBe(parseEther('1'));
  });

  it('addLiquidity, removeLiquidity', async () => {
    const [usdc, wbtc] = [await balanceOf('USDC'), await balanceOf('WBTC')];
    const pair = { tokenA: 'USDC', tokenB: 'WBTC', amountA: '600', amountB: '0.1' };
    await carryOut('addLiquidity', pair, ['Approve', 'Approve', 'Open a position']);
    expect(usdc - (await balanceOf('USDC'))).toBeGreaterThan(parseUnits('599', 6));
    expect(wbtc - (await balanceOf('WBTC'))).toBeGreaterThan(0n);
    const [positionId] = await positionsOf();
    await carryOut('removeLiquidity', { positionId: `${positionId}`, percent: 100 }, ['Remove 100 %']);
    expect(await positionsOf()).toEqual([]);
    expect(usdc - (await balanceOf('USDC'))).toBeLessThan(10n);
    expect(wbtc - (await balanceOf('WBTC'))).toBeLessThan(10n);
  });

  it('mintLending, borrowLending, repayLending, redeemLending', async () => {
    await carryOut('mintLending', { symbol: 'USDC', amount: '1000' }, ['Approve', 'Supply 1000 USDC']);
    await carryOut('mintLending', { symbol: 'WBTC', amount: '0.05' }, ['Approve', 'Supply 0.05 WBTC']);
    const wsei = await balanceOf('WSEI');
    const borrow = { symbol: 'WSEI', amount: '100' };
    await carryOut('borrowLending', borrow, ['as collateral', 'Borrow 100 WSEI']);
    expect((await balanceOf('WSEI')) - wsei).toBe(parseEther('100'));

    await carryOut('repayLending', { symbol: 'WSEI', amount: '40' }, ['Approve', 'Repay 40 WSEI']);
    // Interest accrues with every block: a little more is approved, and the rest is revoked.
    await carryOut('repayLending', { symbol: 'WSEI', amount: 'MAX' }, ['Approve', 'Repay all', 'Take back']);
    expect(await readMarket('WSEI', 'borrowBalanceStored')).toBe(0n);

    await carryOut('redeemLending', { symbol: 'USDC', amount: '100' }, ['Withdraw 100 USDC']);
    await carryOut('redeemLending', { symbol: 'USDC', amount: 'MAX' }, ['Withdraw all']);
    expect(await readMarket('USDC', 'balanceOf')).toBe(0n);
  });

  it('borrowLending against several markets that are not collateral yet', async () => {
    await carryOut('mintLending', { symbol: 'USDC', amount: '100' }, ['Approve', 'Supply']);
    await carryOut('mintLending', { symbol: 'WBTC', amount: '0.002' }, ['Approve', 'Supply']);
    const wsei = await balanceOf('WSEI');
    await carryOut('borrowLending', { symbol: 'WSEI', amount: '280' }, ['collateral', 'collateral', 'Borrow']);
    expect((await balanceOf('WSEI')) - wsei).toBe(parseEther('280'));
  });

  it('stake, unstake, claimUnstaked', async () => {
    await carryOut('stake', { amount: '5' }, ['Stake 5 SEI']);
    expect(await balanceOf('stSEI')).toBeGreaterThan(0n);
    await carryOut('unstake', { amount: '1' }, ['Queue 1']);
    await fixture.lanes.rpc('evm_increaseTime', [60]);
    const before = await nativeBalance();
    await carryOut('claimUnstaked', {}, ['Claim']);
    expect(await nativeBalance()).toBeGreaterThan(before);
  });

  it('perpsDeposit, perpsOpenPosition, perpsClosePosition, perpsWithdraw', async () => {
    await carryOut('perpsDeposit', { amount: '500' }, ['Approve', 'Deposit 500 USDC']);
    expect(await freeMargin()).toBe(500_000_000n);
    const order = { product: 'BTC-PERP', side: 'long', amount: '0.01', leverage: 5 };
    await carryOut('perpsOpenPosition', order, ['Open long 0.01 BTC']);
    expect(await freeMargin()).toBeLessThan(500_000_000n);
    await carryOut('perpsClosePosition', { product: 'BTC-PERP' }, ['Close long 0.01 BTC']);
    const [free, usdc] = [await freeMargin(), await balanceOf('USDC')];
    await carryOut('perpsWithdraw', { amount: '100' }, ['Withdraw 100 USDC']);
    expect(free - (await freeMargin())).toBe(100_000_000n);
    expect((await balanceOf('USDC')) - usdc).toBe(100_000_000n);
  });

  it('payment', async () => {
    const server = await startPaidServer(fixture.chain);
    try {
      const job = await carryOut('payment', { url: server.url }, ['Pay 0.001 USDC']);
      expect(job.details['answer']).toMatchObject({ httpStatus: 200, body: '{"conditions":"Clear","number":1}' });
      expect(job.plan).toMatchObject({
        recipients: [fixture.chain.payTo],
        spends: [{ symbol: 'USDC', amount: '0.001' }],
      });
    } finally {
      await fixture.endLanes();
      await server.close();
    }
  });

  it('was tried above', () => {
    expect([...tried].sort()).toEqual([...AGENT_OPERATIONS].sort());
  });
});
