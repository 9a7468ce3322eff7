import { encodeFunctionData, erc20Abi, maxUint256, parseEther, parseUnits, type Abi, type Address } from 'viem';

import { squareRoot } from '../../../packages/agent-kit/src/protocols/liquidity/full-range.js';
import type { Contracts, PlannedAddresses } from './create-contracts.js';
import { DEPLOYER, type DeployerCall } from './deployer.js';
import { encodeSetPrice, type PricedAsset } from './set-price.js';

/** Each account's part, in base units; native coin and USDC it has from the chain. */
const PER_ACCOUNT = {
  WSEI: parseEther('1000'),
  WBTC: parseUnits('10', 8),
  FEE: parseEther('1000'),
  RVT: parseEther('1000'),
  EVIL: parseEther('1000'),
};

/** In USD per whole unit. */
const PRICES: readonly [PricedAsset, string][] = [
  ['USDC', '1'],
  ['SEI', '0.5'],
  ['BTC', '60000'],
  ['ETH', '3000'],
  ['ATOM', '4'],
];

/** The fee of the pools, in hundredths of a basis point: 0.3 %. */
const FEE = 3000;
/** The widest range that this fee's tick spacing of 60 allows. */
const LAST_TICK = 887_220;
const FAR_DEADLINE = 2n ** 63n;

/**
 * `supply` can be borrowed by others, and keeps the exchange rate from being moved by a gift; `borrowed` makes rates.
 */
const MARKETS = [
  { symbol: 'USDC', asset: 'USDC', decimals: 6, collateralFactor: '0.8', supply: '4000000', borrowed: '800000' },
  { symbol: 'WSEI', asset: 'SEI', decimals: 18, collateralFactor: '0.6', supply: '4000000', borrowed: '800000' },
  { symbol: 'WBTC', asset: 'BTC', decimals: 8, collateralFactor: '0.6', supply: '50', borrowed: '10' },
] as const;

const PRODUCTS = [
  { baseAsset: 'BTC', increment: '0.001', maxQuantity: '20', active: true },
  { baseAsset: 'ETH', increment: '0.01', maxQuantity: '400', active: true },
  { baseAsset: 'SEI', increment: '1', maxQuantity: '2000000', active: true },
  { baseAsset: 'ATOM', increment: '0.1', maxQuantity: '1000', active: false },
];

/** The deployer's calls that fill the new protocols. Prices come before lending and perps, which need them. */
export function seedProtocols(
  contracts: Contracts,
  addresses: PlannedAddresses,
  receivers: readonly Address[],
): DeployerCall[] {
  return [
    ...seedTokens(contracts, addresses, receivers),
    ...PRICES.map(([asset, price]) => encodeSetPrice(addresses, asset, price)),
    ...seedUniswap(contracts, addresses),
    ...seedLending(contracts, addresses),
    ...seedStaking(contracts, addresses),
    ...seedPerps(contracts, addresses),
  ];
}

/** Gives the deployer the tokens that seed the protocols, and the accounts some of each token. */
function seedTokens(contracts: Contracts, { tokens }: PlannedAddresses, receivers: readonly Address[]): DeployerCall[] {
  // All have the same function.
  const { abi } = contracts.TestToken;
  const mint = (token: Address, to: Address, amount: bigint) => call(abi, token, 'mint', [to, amount]);
  return [
    mint(tokens.USDC, DEPLOYER, parseUnits('50000000', 6)),
    mint(tokens.WBTC, DEPLOYER, parseUnits('1000', 8)),
    { ...call(contracts.WrappedNative.abi, tokens.WSEI, 'deposit'), valueWei: parseEther('50000000') },
    ...receivers.flatMap((receiver) => [
      call(erc20Abi, tokens.WSEI, 'transfer', [receiver, PER_ACCOUNT.WSEI]),
      ...(['WBTC', 'FEE', 'RVT', 'EVIL'] as const).map((symbol) => mint(tokens[symbol], receiver, PER_ACCOUNT[symbol])),
    ]),
  ];
}

interface Reserve {
  token: Address;
  amount: bigint;
}

/**
 * Pools of both versions, each with some 6 million USDC a side: a trade of 1,000 USDC moves a price by hundredths of a
 * percent.
 */
function seedUniswap(contracts: Contracts, { tokens, uniswapV2, uniswapV3 }: PlannedAddresses): DeployerCall[] {
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
    call(abi, positionManager, 'createAndInitializePoolIfNecessary', [first.token, second.token, FEE, sqrtPriceX96]),
    call(abi, positionManager, 'mint', [parameters]),
  ];
}

function addToV2(abi: Abi, router: Address, [first, second]: [Reserve, Reserve]): DeployerCall {
  const args = [first.token, second.token, first.amount, second.amount, 0n, 0n, DEPLOYER, FAR_DEADLINE];
  return call(abi, router, 'addLiquidity', args);
}

/** Opens the three markets, with supply and some debt of the deployer in each. */
function seedLending(contracts: Contracts, { tokens, lending }: PlannedAddresses): DeployerCall[] {
  const { comptroller, oracle, markets } = lending;
  const control = (name: string, args: readonly unknown[]) => call(contracts.Comptroller.abi, comptroller, name, args);
  const market = (symbol: keyof typeof markets, name: string, amount: bigint) =>
    call(contracts.CErc20Immutable.abi, markets[symbol], name, [amount]);
  return [
    ...MARKETS.map(({ symbol, asset, decimals }) =>
      call(contracts.PriceOracle.abi, oracle, 'setUnderlying', [markets[symbol], asset, decimals]),
    ),
    control('_setPriceOracle', [oracle]),
    control('_setCloseFactor', [parseUnits('0.5', 18)]),
    control('_setLiquidationIncentive', [parseUnits('1.08', 18)]),
    ...MARKETS.flatMap(({ symbol, decimals, collateralFactor, supply }) => [
      control('_supportMarket', [markets[symbol]]),
      control('_setCollateralFactor', [markets[symbol], parseUnits(collateralFactor, 18)]),
      market(symbol, '_setReserveFactor', parseUnits('0.1', 18)),
      approveAll(tokens[symbol], markets[symbol]),
      market(symbol, 'mint', parseUnits(supply, decimals)),
    ]),
    control('enterMarkets', [MARKETS.map(({ symbol }) => markets[symbol])]),
    ...MARKETS.map(({ symbol, decimals, borrowed }) => market(symbol, 'borrow', parseUnits(borrowed, decimals))),
  ];
}

/** A stake that stays, and rewards for years. */
function seedStaking(contracts: Contracts, { staking }: PlannedAddresses): DeployerCall[] {
  const { abi } = contracts.LiquidStaking;
  return [
    { ...call(abi, staking, 'fundRewards'), valueWei: parseEther('1000000') },
    { ...call(abi, staking, 'stake'), valueWei: parseEther('100000') },
  ];
}

/** The products, and a house that can pay winners. */
function seedPerps(contracts: Contracts, { tokens, perps }: PlannedAddresses): DeployerCall[] {
  const { abi } = contracts.PerpsExchange;
  return [
    approveAll(tokens.USDC, perps),
    call(abi, perps, 'fundHouse', [parseUnits('10000000', 6)]),
    ...PRODUCTS.map(({ baseAsset, increment, maxQuantity, active }) => {
      const product = {
        id: 0,
        symbol: `${baseAsset}-PERP`,
        baseAsset,
        quoteAsset: 'USDC',
        active,
        markPrice: 0n,
        increment: parseUnits(increment, 18),
        minQuantity: parseUnits(increment, 18),
        maxQuantity: parseUnits(maxQuantity, 18),
        makerFeeBps: 2n,
        takerFeeBps: 5n,
        initialWeightBps: 500n,
        maintenanceWeightBps: 300n,
      };
      return call(abi, perps, 'addProduct', [product]);
    }),
  ];
}

/** Lets a protocol take any amount of the deployer's tokens. */
function approveAll(token: Address, spender: Address): DeployerCall {
  return call(erc20Abi, token, 'approve', [spender, maxUint256]);
}

function call(abi: Abi, to: Address, functionName: string, args: readonly unknown[] = []): DeployerCall {
  return { to, data: encodeFunctionData({ abi, functionName, args }) };
}
