import { erc20Abi, maxUint128, parseAbi, parseEther, parseEventLogs, parseUnits, type Address } from 'viem';

import { createTrader, type Trader } from '../../../test/harness/agents/trader.js';
import { startChain, type DevnetWithProtocols } from '../chain/chain.js';

const v3Abi = parseAbi([
  'struct Swap { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }',
  'struct Quote { address tokenIn; address tokenOut; uint256 amountIn; uint24 fee; uint160 sqrtPriceLimitX96; }',
  'struct Mint { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }',
  'struct Decrease { uint256 tokenId; uint128 liquidity; uint256 amount0Min; uint256 amount1Min; uint256 deadline; }',
  'struct Collect { uint256 tokenId; address recipient; uint128 amount0Max; uint128 amount1Max; }',
  'function exactInputSingle(Swap) payable returns (uint256 amountOut)',
  'function quoteExactInputSingle(Quote) returns (uint256 amountOut, uint160 sqrtPriceX96After, uint32 ticksCrossed, uint256 gasEstimate)',
  'function mint(Mint) payable returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
  'function decreaseLiquidity(Decrease) payable returns (uint256 amount0, uint256 amount1)',
  'function collect(Collect) payable returns (uint256 amount0, uint256 amount1)',
  'event IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
]);
const v2Abi = parseAbi([
  'function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[])',
  'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline) returns (uint256[])',
  'function addLiquidity(address tokenA, address tokenB, uint256 amountADesired, uint256 amountBDesired, uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline) returns (uint256, uint256, uint256)',
  'function removeLiquidity(address tokenA, address tokenB, uint256 liquidity, uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline) returns (uint256, uint256)',
  'function getPair(address tokenA, address tokenB) view returns (address)',
]);

const FEE = 3000;
const DEADLINE = 2n ** 40n;
const thousandUsdc = parseUnits('1000', 6);

describe('Uniswap on the devnet', () => {
  let chain: DevnetWithProtocols;
  let trader: Trader;

  beforeAll(async () => {
    chain = await startChain({ protocols: true });
    trader = createTrader(chain, 0);
    const { tokens, uniswapV2, uniswapV3 } = chain.contracts;
    for (const spender of [uniswapV3.router, uniswapV3.positionManager, uniswapV2.router]) {
      for (const token of [tokens.USDC, tokens.WSEI, tokens.WBTC]) await approve(token, spender);
    }
  });

  afterAll(async () => {
    await chain.stop();
  });

  const approve = (token: Address, spender: Address) =>
    trader.mined(
      trader.writeContract({ address: token, abi: erc20Abi, functionName: 'approve', args: [spender, 2n ** 200n] }),
    );
  const balanceOf = (token: Address) =>
    trader.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [trader.address] });
  const quoteV3 = async (tokenIn: Address, tokenOut: Address, amountIn: bigint) => {
    const args = [{ tokenIn, tokenOut, amountIn, fee: FEE, sqrtPriceLimitX96: 0n }] as const;
    const call = { address: chain.contracts.uniswapV3.quoter, abi: v3Abi } as const;
    return (await trader.simulateContract({ ...call, functionName: 'quoteExactInputSingle', args })).result[0];
  };
  const swapV3 = (tokenIn: Address, tokenOut: Address, amountIn: bigint, amountOutMinimum: bigint) =>
    trader.mined(
      trader.writeContract({
        address: chain.contracts.uniswapV3.router,
        abi: v3Abi,
        functionName: 'exactInputSingle',
        args: [
          {
            tokenIn,
            tokenOut,
            amountIn,
            amountOutMinimum,
            fee: FEE,
            recipient: trader.address,
            deadline: DEADLINE,
            sqrtPriceLimitX96: 0n,
          },
        ],
      }),
    );

  it('swaps on v3 for the quoted amount, at the price of the oracle less fee and under 1 % of impact', async () => {
    const { USDC, WSEI, WBTC } = chain.contracts.tokens;
    for (const [tokenOut, fair] of [
      [WSEI, parseEther('2000')],
      [WBTC, 1_666_666n],
    ] as const) {
      const quote = await quoteV3(USDC, tokenOut, thousandUsdc);
      expect(quote).toBeGreaterThan((fair * 987n) / 1000n);
      expect(quote).toBeLessThan(fair);
      const before = await balanceOf(tokenOut);
      await swapV3(USDC, tokenOut, thousandUsdc, quote);
      expect((await balanceOf(tokenOut)) - before).toBe(quote);
    }
  });

  it('reverts on v3 when the minimum amount is one base unit above the result', async () => {
    const { USDC, WSEI } = chain.contracts.tokens;
    const quote = await quoteV3(USDC, WSEI, thousandUsdc);
    await expect(swapV3(USDC, WSEI, thousandUsdc, quote + 1n)).rejects.toThrow('Too little received');
  });

  it('adds liquidity on v3 as a position of its own, and takes it out again', async () => {
    const { tokens, uniswapV3 } = chain.contracts;
    const manager = { address: uniswapV3.positionManager, abi: v3Abi } as const;
    const [token0, token1] =
      BigInt(tokens.USDC) < BigInt(tokens.WSEI) ? [tokens.USDC, tokens.WSEI] : [tokens.WSEI, tokens.USDC];
    const [before0, before1] = [await balanceOf(token0), await balanceOf(token1)];
    const added = await trader.mined(
      trader.writeContract({
        ...manager,
        functionName: 'mint',
        args: [
          {
            token0,
            token1,
            fee: FEE,
            tickLower: -887_220,
            tickUpper: 887_220,
            amount0Desired: token0 === tokens.USDC ? thousandUsdc : parseEther('500'),
            amount1Desired: token0 === tokens.USDC ? parseEther('500') : thousandUsdc,
            amount0Min: 1n,
            amount1Min: 1n,
            recipient: trader.address,
            deadline: DEADLINE,
          },
        ],
      }),
    );
    const [event] = parseEventLogs({ abi: v3Abi, eventName: 'IncreaseLiquidity', logs: added.logs });
    const { tokenId, liquidity, amount0, amount1 } = event!.args;
    expect(before0 - (await balanceOf(token0))).toBe(amount0);
    expect(before1 - (await balanceOf(token1))).toBe(amount1);

    const decrease = { tokenId, liquidity, amount0Min: amount0 - 1n, amount1Min: amount1 - 1n, deadline: DEADLINE };
    await trader.mined(trader.writeContract({ ...manager, functionName: 'decreaseLiquidity', args: [decrease] }));
    const collect = { tokenId, recipient: trader.address, amount0Max: maxUint128, amount1Max: maxUint128 };
    await trader.mined(trader.writeContract({ ...manager, functionName: 'collect', args: [collect] }));
    expect(before0 - (await balanceOf(token0))).toBeLessThanOrEqual(1n);
    expect(before1 - (await balanceOf(token1))).toBeLessThanOrEqual(1n);
  });

  it('swaps on v2 over two pools with a floor, and adds and removes liquidity', async () => {
    const { tokens, uniswapV2 } = chain.contracts;
    const router = { address: uniswapV2.router, abi: v2Abi } as const;
    const path = [tokens.WSEI, tokens.USDC, tokens.WBTC];
    const amountIn = parseEther('600');
    const quoted = await trader.readContract({ ...router, functionName: 'getAmountsOut', args: [amountIn, path] });
    const least = quoted[2]!;
    const swap = (floor: bigint) =>
      trader.mined(
        trader.writeContract({
          ...router,
          functionName: 'swapExactTokensForTokens',
          args: [amountIn, floor, path, trader.address, DEADLINE],
        }),
      );
    await expect(swap(least + 1n)).rejects.toThrow('INSUFFICIENT_OUTPUT_AMOUNT');
    const before = await balanceOf(tokens.WBTC);
    await swap(least);
    expect((await balanceOf(tokens.WBTC)) - before).toBe(least);
    // 300 USDC at 60,000, less two fees of 0.3 %.
    expect(least).toBeGreaterThan(496_000n);

    const wbtcBefore = await balanceOf(tokens.WBTC);
    const amounts = [thousandUsdc, parseUnits('1', 8), 1n, 1n] as const;
    const add = {
      functionName: 'addLiquidity',
      args: [tokens.USDC, tokens.WBTC, ...amounts, trader.address, DEADLINE],
    } as const;
    await trader.mined(trader.writeContract({ ...router, ...add }));
    const pair = await trader.readContract({
      address: uniswapV2.factory,
      abi: v2Abi,
      functionName: 'getPair',
      args: [tokens.USDC, tokens.WBTC],
    });
    const liquidity = await balanceOf(pair);
    expect(liquidity).toBeGreaterThan(0n);
    await approve(pair, uniswapV2.router);
    const remove = [tokens.USDC, tokens.WBTC, liquidity, thousandUsdc - 1000n, 1n, trader.address, DEADLINE] as const;
    await trader.mined(trader.writeContract({ ...router, functionName: 'removeLiquidity', args: remove }));
    expect(wbtcBefore - (await balanceOf(tokens.WBTC))).toBeLessThanOrEqual(1n);
  });
});
