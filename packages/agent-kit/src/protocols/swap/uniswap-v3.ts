import { formatTokenAmount } from '@tollgate/protocol';
import { encodeFunctionData, isAddressEqual, parseAbi, zeroAddress, type Address, type Hex } from 'viem';

import type { Probe } from '../../chain/probe.js';
import { assertArrivesWhole } from '../../tokens/preview-transfer.js';
import { showSymbol } from '../../tokens/show-token.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import type { ProtocolAction, StepFailures } from '../../types/plan.js';
import type { ProtocolEnvironment, ProtocolPlugin, SwapQuote, SwapRequest, SwapTerms } from '../protocol.js';
import { FEE_TIERS, formatFeeTier, poolAddressOf, router02Abi, routerAbi } from '../uniswap-v3-pools.js';
import { encodePath, findPaths, quoteBestRoute, readPriceImpactBps, type Route } from './routes.js';

export interface UniswapV3SwapOptions {
  /** Address of SwapRouter, or of SwapRouter02. */
  router: Address;
  /** 2 for SwapRouter02; default 1. */
  routerVersion?: 1 | 2;
  /** Address of QuoterV2. */
  quoter: Address;
  factory: Address;
  wrappedNative: Address;
  chainIds: readonly number[];
  /** In millionths: 3000 is 0.3 %. */
  feeTiers?: readonly number[];
  /** The intermediate tokens of routes; default: the listed tokens. */
  via?: readonly Address[];
  /** A swap with a larger price impact is refused with INSUFFICIENT_LIQUIDITY; default 1,000 (10 %). */
  maxPriceImpactBps?: number;
}

const FAILURES: StepFailures = {
  codes: {
    'Too little received': 'SLIPPAGE',
    'Insufficient WETH9': 'SLIPPAGE',
    'Transaction too old': 'PLAN_EXPIRED',
  },
};

/** What each router takes for its own address. */
const ROUTER_ITSELF = zeroAddress;
const ROUTER_02_ITSELF = '0x0000000000000000000000000000000000000002';

/** Above this price impact the preview warns. */
const NOTEWORTHY_IMPACT_BPS = 100n;

/**
 * Swaps through the pools of a Uniswap v3 deployment: the best of all fee tiers, and of routes over one listed token.
 */
export function uniswapV3Swap(options: UniswapV3SwapOptions): ProtocolPlugin<'swap'> {
  return {
    kind: 'swap',
    name: 'Uniswap v3',
    chainIds: options.chainIds,
    probes: [
      ...['router', 'quoter'].flatMap((contract): Probe[] => {
        const { factory, wrappedNative, [contract as 'router' | 'quoter']: address } = options;
        return [
          { contract, address, getter: 'factory', returns: 'address', expected: factory },
          { contract, address, getter: 'WETH9', returns: 'address', expected: wrappedNative },
        ];
      }),
    ],
    create: (environment) => ({
      quote: async (request) =>
        quoteWrapping(request, options.wrappedNative) ?? (await quotePools(request, options, environment)),
    }),
  };
}

async function quotePools(
  request: SwapRequest,
  options: UniswapV3SwapOptions,
  { client, tokens }: ProtocolEnvironment,
): Promise<SwapQuote> {
  const { from, to, amountIn } = request;
  const { factory, quoter, wrappedNative, feeTiers = FEE_TIERS, maxPriceImpactBps = 1_000 } = options;
  const via = options.via ?? tokens.listed.map(({ address }) => address);
  const ends = { from: poolAddressOf(from, wrappedNative), to: poolAddressOf(to, wrappedNative) };
  const paths = await findPaths(client, factory, { ...ends, via, feeTiers });
  const pair = `${showSymbol(from)} to ${showSymbol(to)}`;
  const refuse = (message: string, facts: object = {}) =>
    new AgentKitError('INSUFFICIENT_LIQUIDITY', message, { details: { from: from.address, to: to.address, ...facts } });
  if (paths.length === 0) throw refuse(`No pool with liquidity leads from ${pair}.`);
  const best = await quoteBestRoute(client, quoter, paths, amountIn);
  if (best === null) {
    const amount = formatTokenAmount(amountIn, from.decimals);
    throw refuse(`The liquidity from ${pair} does not fit the amount ${amount}.`);
  }
  const impactBps = await readPriceImpactBps(client, best, amountIn);
  const impact = `${formatTokenAmount(impactBps, 2)} %`;
  if (impactBps > maxPriceImpactBps) {
    throw refuse(`There is too little liquidity from ${pair}: this amount would worsen its own price by ${impact}.`, {
      priceImpactBps: Number(impactBps),
      maxPriceImpactBps,
    });
  }
  const route = describeRoute(best.route, request, options, tokens.listed);
  const poolFees = best.route.map(({ fee }) => formatFeeTier(fee)).join(', then ');
  return {
    expectedOut: best.amountOut,
    isOneToOne: false,
    route,
    fees: [{ label: 'pool fee', text: `${poolFees} (${route})` }],
    warnings:
      impactBps > NOTEWORTHY_IMPACT_BPS
        ? [`The amount is large for the pools: it worsens its own price by ${impact}.`]
        : [],
    createSwap: async (terms) => {
      const [first] = best.route;
      const last = best.route.at(-1) ?? first;
      const bought = { token: to, amountBaseUnits: best.amountOut };
      await assertArrivesWhole(
        client,
        { token: from, amountBaseUnits: amountIn },
        { from: request.account, to: first.pool },
      );
      await assertArrivesWhole(client, bought, { from: last.pool, to: terms.recipient });
      return createSwap(best.route, request, terms, options);
    },
  };
}

/**
 * One call. The router wraps native token that is sent along; native token that is bought stays in the router until it
 * is unwrapped and sent on.
 */
function createSwap(
  route: Route,
  { from, to, amountIn }: SwapRequest,
  { minimumOut, recipient, deadlineSeconds }: SwapTerms,
  { router, routerVersion = 1 }: UniswapV3SwapOptions,
): ProtocolAction {
  const calls: Hex[] = [];
  const swap = { path: encodePath(route), amountIn, amountOutMinimum: minimumOut };
  if (routerVersion === 1) {
    const params = { ...swap, recipient: to.isNative ? ROUTER_ITSELF : recipient, deadline: deadlineSeconds };
    calls.push(encodeFunctionData({ abi: routerAbi, functionName: 'exactInput', args: [params] }));
  } else {
    const params = { ...swap, recipient: to.isNative ? ROUTER_02_ITSELF : recipient };
    calls.push(encodeFunctionData({ abi: router02Abi, functionName: 'exactInput', args: [params] }));
  }
  if (to.isNative) {
    calls.push(encodeFunctionData({ abi: routerAbi, functionName: 'unwrapWETH9', args: [minimumOut, recipient] }));
  }
  // Native token that the pools did not use would stay in the router, where any caller could withdraw it.
  if (from.isNative) calls.push(encodeFunctionData({ abi: routerAbi, functionName: 'refundETH' }));
  const [only = '0x'] = calls;
  const data =
    routerVersion === 2
      ? encodeFunctionData({ abi: router02Abi, functionName: 'multicall', args: [deadlineSeconds, calls] })
      : calls.length === 1
        ? only
        : encodeFunctionData({ abi: routerAbi, functionName: 'multicall', args: [calls] });
  return {
    approvals: from.isNative ? [] : [{ token: from, spender: router, amountBaseUnits: amountIn }],
    calls: [
      {
        label: `Swap ${showSymbol(from)} for ${showSymbol(to)} on Uniswap v3`,
        to: router,
        data,
        value: from.isNative ? amountIn : 0n,
        failures: FAILURES,
      },
    ],
  };
}

function describeRoute(
  route: Route,
  { from, to }: SwapRequest,
  { wrappedNative }: UniswapV3SwapOptions,
  listed: ProtocolEnvironment['tokens']['listed'],
): string {
  const names = route.slice(1).map(({ tokenIn }) => {
    const token = listed.find(({ address }) => address.toLowerCase() === tokenIn.toLowerCase());
    return token?.symbol ?? (tokenIn === wrappedNative ? 'wrapped native' : tokenIn);
  });
  return [showSymbol(from), ...names, showSymbol(to)].join(' → ');
}

const wrappedNativeAbi = parseAbi(['function deposit() payable', 'function withdraw(uint256 amount)']);

/** The exchange between the native token and its wrapped form, which needs no pool; null for any other pair. */
function quoteWrapping({ from, to, amountIn }: SwapRequest, wrappedNative: Address): SwapQuote | null {
  const isPair = [from, to].every((token) => isAddressEqual(poolAddressOf(token, wrappedNative), wrappedNative));
  if (!isPair) return null;
  const call = from.isNative
    ? {
        label: `Wrap ${from.symbol} as ${to.symbol}`,
        data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' }),
        value: amountIn,
      }
    : {
        label: `Unwrap ${from.symbol} to ${to.symbol}`,
        data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'withdraw', args: [amountIn] }),
        value: 0n,
      };
  return {
    expectedOut: amountIn,
    isOneToOne: true,
    route: from.isNative ? 'wrapped, one to one' : 'unwrapped, one to one',
    fees: [],
    warnings: [],
    createSwap: async () => ({ approvals: [], calls: [{ ...call, to: wrappedNative }] }),
  };
}
