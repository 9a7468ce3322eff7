import { encodeFunctionData, getContract, isAddressEqual, type Address, type Hex } from 'viem';

import { assertArrivesWhole } from '../../tokens/preview-transfer.js';
import { showSymbol } from '../../tokens/show-token.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import type { Token, TokenAmount } from '../../types/token.js';
import { subtractSlippage } from '../amount-math.js';
import type { LiquidityProtocol, ProtocolEnvironment } from '../protocol.js';
import { poolAbi, poolAddressOf, positionManagerAbi } from '../uniswap-v3-pools.js';
import { findPool } from './find-pool.js';
import { fitToPrice, fullRangeTicks } from './full-range.js';
import { POSITION_FAILURES, type UniswapV3LiquidityOptions } from './position-manager.js';

type AddRequest = Parameters<LiquidityProtocol['createAdd']>[0];
type AddAction = Awaited<ReturnType<LiquidityProtocol['createAdd']>>;

type Pair<Value> = readonly [Value, Value];

/** Opens a full-range position with the part of the two amounts that fits the pool's price. */
export async function createAdd(
  request: AddRequest,
  options: UniswapV3LiquidityOptions,
  { client }: ProtocolEnvironment,
): Promise<AddAction> {
  const { recipient, slippageBps, deadlineSeconds } = request;
  const sides = sortSides(request.amounts, options.wrappedNative);
  const tokens = mapPair(sides, ({ token }) => token);
  const [token0, token1] = mapPair(tokens, (token) => poolAddressOf(token, options.wrappedNative));
  const { pool, fee, sqrtPriceX96, warnings } = await findPool(tokens, request.fee, options, client);
  const tickSpacing = await getContract({ address: pool, abi: poolAbi, client }).read.tickSpacing();
  const offered = { amount0: sides[0].amountBaseUnits, amount1: sides[1].amountBaseUnits };
  const { amount0, amount1 } = fitToPrice(offered, sqrtPriceX96, tickSpacing);
  if (amount0 === 0n || amount1 === 0n) throw refuseTooSmall(tokens);

  const deposits: Pair<TokenAmount> = [
    { ...sides[0], amountBaseUnits: amount0 },
    { ...sides[1], amountBaseUnits: amount1 },
  ];
  for (const deposit of deposits) await assertArrivesWhole(client, deposit, { from: recipient, to: pool });
  const minimums = mapPair(deposits, (deposit) => ({ ...deposit, amountBaseUnits: minimumOf(deposit, slippageBps) }));
  const mint = encodeFunctionData({
    abi: positionManagerAbi,
    functionName: 'mint',
    args: [
      {
        token0,
        token1,
        fee,
        ...fullRangeTicks(tickSpacing),
        amount0Desired: amount0,
        amount1Desired: amount1,
        amount0Min: minimums[0].amountBaseUnits,
        amount1Min: minimums[1].amountBaseUnits,
        recipient,
        deadline: deadlineSeconds,
      },
    ],
  });
  const native = deposits.find(({ token }) => token.isNative);
  const isSwapped = sides[0].token !== request.amounts[0].token;
  const inOrder = ([first, second]: Pair<TokenAmount>): Pair<TokenAmount> =>
    isSwapped ? [second, first] : [first, second];
  return {
    approvals: deposits
      .filter(({ token }) => !token.isNative)
      .map(({ token, amountBaseUnits }) => ({ token, amountBaseUnits, spender: options.positionManager })),
    calls: [
      {
        label: `Open a position in the ${tokens.map(showSymbol).join('/')} pool of Uniswap v3`,
        to: options.positionManager,
        data: native ? withRefund(mint) : mint,
        value: native?.amountBaseUnits ?? 0n,
        failures: POSITION_FAILURES,
      },
    ],
    fee,
    deposits: inOrder(deposits),
    minimums: inOrder(minimums),
    warnings,
  };
}

/** Starts one unit lower, because the pool's rounding may cost that much, even with no slippage allowed. */
function minimumOf({ amountBaseUnits }: TokenAmount, slippageBps: number): bigint {
  return subtractSlippage(amountBaseUnits > 1n ? amountBaseUnits - 1n : amountBaseUnits, slippageBps);
}

function sortSides([one, other]: AddRequest['amounts'], wrappedNative: Address): Pair<TokenAmount> {
  const [a, b] = mapPair([one, other], ({ token }) => poolAddressOf(token, wrappedNative));
  if (isAddressEqual(a, b)) {
    throw new AgentKitError(
      'INVALID_INPUT',
      'A pool needs two different tokens; the native token and its wrapped form count as the same.',
    );
  }
  return BigInt(a) < BigInt(b) ? [one, other] : [other, one];
}

function refuseTooSmall(tokens: Pair<Token>): AgentKitError {
  const [first, second] = mapPair(tokens, showSymbol);
  return new AgentKitError(
    'INVALID_INPUT',
    `At the pool's price, one of the amounts of ${first} and ${second} is worth less than the other's smallest unit.`,
    { suggestion: 'Raise both amounts.' },
  );
}

/** Native token that was sent and not used would stay in the contract, where any caller could withdraw it. */
function withRefund(mint: Hex): Hex {
  const refund = encodeFunctionData({ abi: positionManagerAbi, functionName: 'refundETH' });
  return encodeFunctionData({ abi: positionManagerAbi, functionName: 'multicall', args: [[mint, refund]] });
}

function mapPair<Value, Result>([one, other]: Pair<Value>, map: (value: Value) => Result): Pair<Result> {
  return [map(one), map(other)];
}
