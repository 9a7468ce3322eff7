import { encodeFunctionData, parseUnits, type Abi, type Address } from 'viem';

import { squareRoot } from '../../../packages/agent-kit/src/protocols/liquidity/full-range.js';
import type { Contracts, PlannedAddresses } from './create-contracts.js';
import { DEPLOYER, type DeployerCall } from './deployer.js';
import { approveAll } from './seed-tokens.js';

/** In hundredths of a basis point: 0.3 %. */
const FEE = 3000;
/** The widest range that this fee's tick spacing of 60 allows. */
const LAST_TICK = 887_220;
const FAR_DEADLINE = 2n ** 63n;

interface Reserve {
  token: Address;
  amount: bigint;
}

/**
 * Pools of both versions, each with some 6 million USDC a side: a trade of 1,000 USDC moves a price by hundredths of a
 * percent.
 */
export function seedUniswap(contracts: Contracts, { tokens, uniswapV2, uniswapV3 }: PlannedAddresses): DeployerCall[] {
  const usdc = { token: tokens.USDC, amount: parseUnits('6000000', 6) };
  const pairs: [Reserve, Reserve][] = [
    [usdc, { token: tokens.WSEI, amount: parseUnits('12000000', 18) }],
    [usdc, { token: tokens.WBTC, amount: parseUnits('100', 8) }],
  ];
  const spenders = [uniswapV3.positionManager, uniswapV2.router];
  return [
    ...[tokens.USDC, tokens.WSEI, tokens.WBTC].flatMap((token) =>
      spenders.map((spender) => approveAll(token, spender)),
    ),
    ...pairs.flatMap((pair) => addToV3(contracts.NonfungiblePositionManager.abi, uniswapV3.positionManager, pair)),
    ...pairs.map((pair) => addToV2(contracts.UniswapV2Router02.abi, uniswapV2.router, pair)),
  ];
}

function addToV3(abi: Abi, positionManager: Address, pair: [Reserve, Reserve]): DeployerCall[] {
  const [first, second] = pair.sort((a, b) => (BigInt(a.token) < BigInt(b.token) ? -1 : 1));
  const sqrtPriceX96 = squareRoot((second.amount << 192n) / first.amount);
  const parameters = {
    token0: first.token,
    token1: second.token,
    fee: FEE,
    tickLower: -LAST_TICK,
    tickUpper: LAST_TICK,
    amount0Desired: first.amount,
    amount1Desired: second.amount,
    amount0Min: 0n,
    amount1Min: 0n,
    recipient: DEPLOYER,
    deadline: FAR_DEADLINE,
  };
  return [
    {
      to: positionManager,
      data: encodeFunctionData({
        abi,
        functionName: 'createAndInitializePoolIfNecessary',
        args: [first.token, second.token, FEE, sqrtPriceX96],
      }),
    },
    { to: positionManager, data: encodeFunctionData({ abi, functionName: 'mint', args: [parameters] }) },
  ];
}

function addToV2(abi: Abi, router: Address, [first, second]: [Reserve, Reserve]): DeployerCall {
  const args = [first.token, second.token, first.amount, second.amount, 0n, 0n, DEPLOYER, FAR_DEADLINE];
  return { to: router, data: encodeFunctionData({ abi, functionName: 'addLiquidity', args }) };
}
