import { parseTokenAmount } from '@tollgate/protocol';
import fc from 'fast-check';
import { decodeFunctionData, type Address, type Hex } from 'viem';

import { createFeeTokenPool, openPools } from '../../../../test/harness/stack/create-pool.js';
import { expectFailure, useChain } from '../../../client/test/set-up.js';
import { kitOf } from '../../test/create-funded-kit.js';
import { AgentKit } from '../agent-kit.js';
import { findPools, positionManagerAbi } from '../protocols/uniswap-v3-pools.js';
import { DEVNET_CONTRACTS } from '../registry/devnet-contracts.js';
import type { Plan } from '../types/plan.js';

const chain = useChain({ protocols: true });

const { tokens, uniswapV3 } = DEVNET_CONTRACTS;

/** All calls in the multicall of a plan's last step. */
function callsOf(plan: Plan) {
  const decode = (data: Hex) => decodeFunctionData({ abi: positionManagerAbi, data });
  const outer = decode(plan.steps.at(-1)!.data);
  return outer.functionName === 'multicall' ? outer.args[0].map(decode) : [outer];
}

/** Opens a position, and returns its id. */
async function open(kit: AgentKit, ...pair: [string, string, string, string]): Promise<string> {
  expect(await kit.addLiquidity(...pair)).toMatchObject({ status: 'success' });
  const { positions } = await kit.getLiquidityPositions();
  return positions[0]!.positionId;
}

describe('addLiquidity', () => {
  it('deposits the part of the two amounts that fits the price, and leaves no approval', async () => {
    const kit = kitOf(chain, 0);
    const before = await Promise.all([tokens.USDC, tokens.WBTC].map((token) => chain.balanceOf(kit.address, token)));
    const plan = await kit.plan('addLiquidity', { tokenA: 'USDC', tokenB: 'WBTC', amountA: '9000', amountB: '0.1' });
    // 0.1 WBTC match 6,000 USDC: no more than that is approved or sent.
    expect(plan.preview).toMatch(/^Add (6000|5999\.9999\d+) USDC and 0\.1 WBTC to their pool with a fee of 0\.3 %\n/);
    expect(await kit.execute(plan)).toMatchObject({ status: 'success' });
    const after = await Promise.all([tokens.USDC, tokens.WBTC].map((token) => chain.balanceOf(kit.address, token)));
    expect(before.map((balance, index) => balance - after[index]!)).toEqual(
      plan.spends.map(({ amountBaseUnits }) => amountBaseUnits),
    );
    for (const token of [tokens.USDC, tokens.WBTC]) {
      expect(await chain.allowanceOf(token, kit.address, uniswapV3.positionManager)).toBe(0n);
    }
    expect((await kit.getLiquidityPositions()).positions).toEqual([
      {
        positionId: expect.stringMatching(/^\d+$/),
        fee: '0.3 %',
        tokenA: {
          token: expect.objectContaining({ ticker: expect.any(String) }),
          amount: expect.any(String),
          fees: '0',
        },
        tokenB: {
          token: expect.objectContaining({ ticker: expect.any(String) }),
          amount: expect.any(String),
          fees: '0',
        },
      },
    ]);
  });

  it('accepts the native token, and sends no more of it than the pool takes', async () => {
    const kit = kitOf(chain, 1);
    const plan = await kit.plan('addLiquidity', { tokenA: '0x0', tokenB: 'USDC', amountA: '100', amountB: '10' });
    // 20 to ten digits, because the pool's price is a rounded square root.
    expect(plan.steps.at(-1)!.value / 10n ** 9n).toBe(parseTokenAmount('20', 9));
    expect(callsOf(plan).map(({ functionName }) => functionName)).toEqual(['mint', 'refundETH']);
    expect(await kit.execute(plan)).toMatchObject({ status: 'success' });
    expect(await chain.balanceOf(uniswapV3.positionManager)).toBe(0n);
  });

  it('finds the exact amounts for any offer: even with no slippage the pool accepts', async () => {
    const offers = fc.record({
      usdc: fc.bigInt({ min: 1_000n, max: 10n ** 11n }),
      wsei: fc.bigInt({ min: 10n ** 12n, max: 10n ** 21n }),
    });
    const kit = kitOf(chain, 2);
    await fc.assert(
      fc.asyncProperty(offers, async ({ usdc, wsei }) => {
        const plan = await kit.plan('addLiquidity', {
          tokenA: 'USDC',
          tokenB: 'WSEI',
          amountA: `${usdc / 1_000_000n}.${(usdc % 1_000_000n).toString().padStart(6, '0')}`,
          amountB: `${wsei / 10n ** 18n}.${(wsei % 10n ** 18n).toString().padStart(18, '0')}`,
          slippageBps: 0,
        });
        const [ofUsdc, ofWsei] = plan.spends.map(({ amountBaseUnits }) => amountBaseUnits) as [bigint, bigint];
        expect(ofUsdc <= usdc && ofWsei <= wsei).toBe(true);
        expect(plan.receives.every(({ amountBaseUnits }) => amountBaseUnits > 0n)).toBe(true);
      }),
      { numRuns: 15 },
    );
  });

  it('sends nothing when the price has moved since the plan was made', async () => {
    const kit = kitOf(chain, 2);
    const plan = await kit.plan('addLiquidity', { tokenA: 'USDC', tokenB: 'WSEI', amountA: '100', amountB: '200' });
    expect(await kitOf(chain, 3).swap('200000', 'USDC', 'WSEI')).toMatchObject({ status: 'success' });
    await expectFailure(kit.execute(plan), 'SLIPPAGE');
  });

  it.each([
    ['the same token twice', { tokenA: 'USDC', tokenB: 'USDC' }, 'INVALID_INPUT'],
    ['the native token and its wrapped form', { tokenA: '0x0', tokenB: 'WSEI' }, 'INVALID_INPUT'],
    ['a pair without a pool', { tokenA: 'WSEI', tokenB: 'WBTC' }, 'INSUFFICIENT_LIQUIDITY'],
    ['a fee tier without a pool', { tokenA: 'USDC', tokenB: 'WSEI', fee: 500 }, 'INSUFFICIENT_LIQUIDITY'],
    ['more than there is', { tokenA: 'USDC', tokenB: 'WSEI', amountB: '5000' }, 'INSUFFICIENT_BALANCE'],
  ])('refuses %s', async (_, change, code) => {
    const input = { amountA: '1', amountB: '1', ...change };
    await expectFailure(kitOf(chain, 4).plan('addLiquidity', input), code);
  });

  it('refuses a token that keeps a part of each transfer', async () => {
    await createFeeTokenPool(chain);
    await expect(kitOf(chain, 4).addLiquidity('USDC', tokens.FEE, '5', '5')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('keeps a part of each transfer'),
    });
  });

  describe('beside a pool with more liquidity at an absurd price', () => {
    const input = { tokenA: 'USDC', tokenB: 'WBTC', amountA: '60', amountB: '0.001' };
    const pair = { from: tokens.USDC, to: tokens.WBTC };

    beforeAll(async () => {
      const sides = [
        { address: tokens.USDC, amount: 600_000_000_000n },
        { address: tokens.WBTC, amount: 4_000_000n },
      ] as const;
      await openPools(chain, [{ fee: 500, sides, isNarrow: true }]);
      const { factory } = uniswapV3;
      const [forged, honest] = await findPools(chain.client, factory, { ...pair, feeTiers: [500, 3_000] });
      expect(forged!.liquidity).toBeGreaterThan(honest!.liquidity);
    });

    it('uses the pool that holds most, and says that no other one confirms its price', async () => {
      const plan = await kitOf(chain, 4).plan('addLiquidity', input);
      expect(plan.summary).toContain('to their pool with a fee of 0.3 %');
      expect(plan.warnings).toEqual([expect.stringContaining('No other pool of USDC and WBTC confirms the price')]);
      expect(plan.preview).toContain('confirms the price');
    });

    it('refuses the other one by name', async () => {
      await expect(kitOf(chain, 4).plan('addLiquidity', { ...input, fee: 500 })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('with a fee of 0.05 % has another price'),
        suggestion: 'Leave the fee out, or use 3000.',
      });
    });

    it('takes a named pool at the price of the largest one, without a warning', async () => {
      const { factory } = uniswapV3;
      const [largest] = await findPools(chain.client, factory, { ...pair, feeTiers: [3_000] });
      const held = (address: Address) => chain.balanceOf(largest!.pool, address);
      const sides = [
        { address: tokens.USDC, amount: (await held(tokens.USDC)) / 1_000n },
        { address: tokens.WBTC, amount: (await held(tokens.WBTC)) / 1_000n },
      ] as const;
      await openPools(chain, [{ fee: 10000, sides }]);
      const plan = await kitOf(chain, 4).plan('addLiquidity', { ...input, fee: 10_000 });
      expect(plan).toMatchObject({ summary: expect.stringContaining('with a fee of 1 %'), warnings: [] });
    });
  });
});

describe('removeLiquidity', () => {
  it('never accepts a minimum of 0, for any part and tolerance', async () => {
    const kit = kitOf(chain, 5);
    const positionId = await open(kit, 'USDC', 'WBTC', '0.05', '0.00000084');
    for (const percent of [1, 37, 100]) {
      for (const slippageBps of [0, 100, 5_000]) {
        const plan = await kit.plan('removeLiquidity', { positionId, percent, slippageBps });
        const decrease = callsOf(plan).find(({ functionName }) => functionName === 'decreaseLiquidity')!;
        const { amount0Min, amount1Min } = decrease.args[0] as { amount0Min: bigint; amount1Min: bigint };
        expect(amount0Min + amount1Min).toBeGreaterThan(0n);
        const expected = [amount0Min, amount1Min].sort();
        expect(plan.receives.map(({ amountBaseUnits }) => amountBaseUnits).sort()).toEqual(expected);
      }
    }
  });

  it('pays out at least the promised amounts, the native token unwrapped, and then burns the position', async () => {
    const kit = kitOf(chain, 6);
    const positionId = await open(kit, '0x0', 'USDC', '200', '100');
    const half = await kit.plan('removeLiquidity', { positionId, percent: 50 });
    expect(half.preview).toMatch(
      /^Remove 50 % of position \d+ for at least [\d.]+ (SEI and [\d.]+ USDC|USDC and [\d.]+ SEI)\n/,
    );
    const before = await readBoth(kit.address);
    const result = await kit.execute(half);
    expect(result).toMatchObject({ status: 'success' });
    const after = await readBoth(kit.address);
    const { gasUsed, effectiveGasPrice } = await chain.client.getTransactionReceipt({ hash: result.result! });
    const gained: Record<string, bigint> = {
      SEI: after.SEI - before.SEI + gasUsed * effectiveGasPrice,
      USDC: after.USDC - before.USDC,
    };
    for (const { token, amountBaseUnits } of half.receives) {
      expect(amountBaseUnits).toBeGreaterThan(0n);
      expect(gained[token.symbol]).toBeGreaterThanOrEqual(amountBaseUnits);
    }
    expect((await kit.getLiquidityPositions()).positions).toHaveLength(1);
    expect(await kit.removeLiquidity(positionId)).toMatchObject({ status: 'success' });
    expect((await kit.getLiquidityPositions()).positions).toEqual([]);
    await expectFailure(kit.removeLiquidity(positionId), 'INVALID_INPUT');
  });

  it('pays out the fees that the position earned', async () => {
    const kit = kitOf(chain, 7);
    const positionId = await open(kit, 'USDC', 'WBTC', '60000', '1');
    expect(await kitOf(chain, 3).swap('10000', 'USDC', 'WBTC')).toMatchObject({ status: 'success' });
    const { positions } = await kit.getLiquidityPositions();
    const earned = [positions[0]!.tokenA, positions[0]!.tokenB].find(({ token }) => token.ticker === 'USDC')!;
    // 0.3 % of 10,000, of which this position owns one percent.
    expect(Number(earned.fees)).toBeGreaterThan(0.2);
    const before = await chain.balanceOf(kit.address, tokens.USDC);
    await kit.removeLiquidity(positionId);
    const gained = (await chain.balanceOf(kit.address, tokens.USDC)) - before;
    expect(gained).toBe(parseTokenAmount(earned.amount, 6) + parseTokenAmount(earned.fees, 6));
  });

  it('sends nothing when the price has moved since the plan was made', async () => {
    const kit = kitOf(chain, 7);
    const plan = await kit.plan('removeLiquidity', { positionId: await open(kit, 'USDC', 'WSEI', '100', '200') });
    expect(await kitOf(chain, 3).swap('200000', 'USDC', 'WSEI')).toMatchObject({ status: 'success' });
    await expectFailure(kit.execute(plan), 'SLIPPAGE');
  });

  it.each(['1', '999999'])('does not touch position %s of another owner', async (positionId) => {
    await expect(kitOf(chain, 4).removeLiquidity(positionId)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      suggestion: expect.stringContaining('getLiquidityPositions'),
    });
  });

  async function readBoth(owner: Address) {
    return {
      SEI: await chain.balanceOf(owner),
      USDC: await chain.balanceOf(owner, tokens.USDC),
    };
  }
});
