import { encodeErrorResult, parseAbi, parseEther, type Address } from 'viem';

import { callRpc } from '../../../../../tools/devnet/processes/json-rpc.js';
import { passTime } from '../../../../../tools/devnet/protocols/pass-time.js';
import { expectFailure, useChain, useMade } from '../../../../client/test/set-up.js';
import { createFundedKit } from '../../../test/create-funded-kit.js';
import { explainRevert } from '../../chain/explain-failure.js';

const YEAR_SECONDS = 365 * 24 * 60 * 60;
const abi = parseAbi(['function convertToAssets(uint256 shares) view returns (uint256)']);

describe('liquid staking', () => {
  const chain = useChain({ protocols: true });
  const kit = useMade(() => createFundedKit(chain));

  const readShares = (owner: Address) => chain.balanceOf(owner, chain.contracts.staking);

  it('stakes for a receipt token, at least as much as planned', async () => {
    const quote = await kit.getStakeQuote('10');
    expect(quote).toMatchObject({ amount: '10', stakedToken: 'stSEI', minimumAmount: '0.1' });
    const plan = await kit.plan('stake', { amount: '10' });
    expect(plan.summary).toMatch(/^Stake 10 SEI for about \d+(\.\d+)? stSEI$/);
    expect(plan.steps.map(({ label, value }) => [label, value])).toEqual([['Stake 10 SEI', parseEther('10')]]);
    // The planned minimum leaves room for the rewards of more than a day.
    await passTime(chain, 24 * 60 * 60);
    expect(await kit.execute(plan)).toMatchObject({ status: 'success', amount: '10', stakedToken: 'stSEI' });
    const shares = await readShares(kit.address);
    expect(shares).toBeLessThanOrEqual(parseEther(quote.receives));
    expect(shares).toBeGreaterThanOrEqual(plan.receives[0]!.amountBaseUnits);
  });

  it('has enough gas for rewards that had not accrued at the time of the estimate', async () => {
    await kit.stake('1');
    // A block in the same second as the last one: an estimate for it includes no reward.
    await callRpc(chain.rpcUrl, 'anvil_setBlockTimestampInterval', [0]);
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [false]);
    const submitted = new Promise((resolve) => kit.on('transactionSubmitted', resolve));
    const staking = kit.stake('1');
    await submitted;
    await callRpc(chain.rpcUrl, 'anvil_removeBlockTimestampInterval');
    await passTime(chain, 60);
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [true]);
    expect(await staking).toMatchObject({ status: 'success' });
  });

  it('accepts the minimum stake, and not one wei less, for any amount', async () => {
    const refusal = {
      code: 'BELOW_MINIMUM',
      message: '0.099999999999999999 SEI is below the minimum amount of 0.1 SEI.',
      details: { minimum: '0.1' },
      suggestion: 'Raise the amount.',
    };
    await expect(kit.stake('0.099999999999999999')).rejects.toMatchObject(refusal);
    expect(await kit.stake('0.1')).toMatchObject({ status: 'success' });
    await expectFailure(kit.stake('0.0000000000000000001'), 'INVALID_INPUT');
    await expectFailure(kit.stake('0'), 'INVALID_INPUT');
  });

  it('refuses to stake more than the balance, and the whole balance, which leaves nothing for gas', async () => {
    await expect(kit.stake('100.000000000000000001')).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      message: expect.stringContaining('insufficient funds'),
    });
    await expect(kit.stake('100')).rejects.toThrow('insufficient funds');
  });

  it('lets the stake gain value', async () => {
    await kit.stake('10');
    const before = await kit.getStakingPosition();
    await passTime(chain, YEAR_SECONDS);
    const after = await kit.getStakingPosition();
    expect(after.staked).toBe(before.staked);
    expect(Number(after.worth) - Number(before.worth)).toBeCloseTo(0.8, 2);
  });

  it('queues an unstake, refuses a claim that is too early, and pays once it has matured', async () => {
    await kit.stake('10');
    await expect(kit.claimUnstaked()).rejects.toMatchObject({
      code: 'PROTOCOL_FAILED',
      message: 'Nothing is queued for unstaking, so nothing can be claimed.',
    });
    const plan = await kit.plan('unstake', { amount: '1' });
    expect(plan.summary).toMatch(/^Unstake 1 stSEI: 1\.\d+ SEI can be claimed after 10 seconds$/);
    expect(await kit.execute(plan)).toMatchObject({ status: 'success', amount: '1', unbondingSeconds: '10' });
    const { queued, claimable } = await kit.getStakingPosition();
    expect(queued).toHaveLength(1);
    expect(claimable).toBe('0');
    await expect(kit.claimUnstaked()).rejects.toMatchObject({
      code: 'PROTOCOL_FAILED',
      message: `Nothing can be claimed before ${queued[0]!.claimableAt}.`,
      suggestion: `Claim at ${queued[0]!.claimableAt} or later.`,
    });

    await kit.unstake('2');
    await passTime(chain, 11);
    const matured = await kit.getStakingPosition();
    expect(matured.queued).toHaveLength(2);
    const before = parseEther(await kit.getERC20Balance());
    const claimed = await kit.claimUnstaked();
    expect(claimed).toMatchObject({ status: 'success', amount: matured.claimable });
    const receipt = await chain.client.getTransactionReceipt({ hash: claimed.result! });
    const gas = receipt.gasUsed * receipt.effectiveGasPrice;
    expect(parseEther(await kit.getERC20Balance())).toBe(before + parseEther(matured.claimable) - gas);
    expect(await kit.getStakingPosition()).toMatchObject({ queued: [], claimable: '0' });
  });

  it('claims only the matured tickets', async () => {
    await kit.stake('10');
    await kit.unstake('1');
    await passTime(chain, 11);
    await kit.unstake('2');
    const { claimable, queued } = await kit.getStakingPosition();
    expect(claimable).toBe(queued[0]!.amount);
    expect(await kit.claimUnstaked()).toMatchObject({ status: 'success', amount: claimable });
    expect((await kit.getStakingPosition()).queued).toEqual([queued[1]]);
  });

  it('refuses to unstake more than is staked, to the last unit', async () => {
    await kit.stake('1');
    const { staked } = await kit.getStakingPosition();
    await expect(kit.unstake('1.000000000000000001')).rejects.toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      details: { balance: staked },
    });
    expect(await kit.unstake(staked)).toMatchObject({ status: 'success' });
    expect(await readShares(kit.address)).toBe(0n);
  });

  it('reports a minimum that was raised after the plan by the contract’s own error', async () => {
    const errors = parseAbi(['error BelowMinimum(uint256 amount, uint256 minimum)', 'error NothingToClaim()']);
    const plan = await kit.plan('stake', { amount: '1' });
    const refuse = (data: `0x${string}`) => explainRevert(data, plan.steps[0]!.failures);
    expect(refuse(encodeErrorResult({ abi: errors, errorName: 'BelowMinimum', args: [1n, 2n] }))).toMatchObject({
      code: 'BELOW_MINIMUM',
      message: expect.stringContaining('minimum amount'),
    });
    expect(refuse(encodeErrorResult({ abi: errors, errorName: 'NothingToClaim' }))).toMatchObject({
      code: 'PROTOCOL_FAILED',
      message: expect.stringContaining('NothingToClaim'),
    });
  });

  it('quotes what the contract then pays', async () => {
    await kit.stake('5');
    const { staked, worth } = await kit.getStakingPosition();
    const args = [parseEther(staked)] as const;
    const assets = await chain.client.readContract({
      address: chain.contracts.staking,
      abi,
      functionName: 'convertToAssets',
      args,
    });
    expect(assets - parseEther(worth)).toBeGreaterThanOrEqual(0n);
    expect(assets - parseEther(worth)).toBeLessThan(parseEther('0.001'));
  });
});
