import { encodeFunctionData, parseUnits, type Address } from 'viem';

import type { Contracts, PlannedAddresses } from './create-contracts.js';
import type { DeployerCall } from './deployer.js';
import { approveAll } from './seed-tokens.js';

/**
 * `supply` can be borrowed by others, and keeps the exchange rate from being moved by a gift; `borrowed` makes rates.
 */
const MARKETS = [
  { symbol: 'USDC', asset: 'USDC', decimals: 6, collateralFactor: '0.8', supply: '4000000', borrowed: '800000' },
  { symbol: 'WSEI', asset: 'SEI', decimals: 18, collateralFactor: '0.6', supply: '4000000', borrowed: '800000' },
  { symbol: 'WBTC', asset: 'BTC', decimals: 8, collateralFactor: '0.6', supply: '50', borrowed: '10' },
] as const;

/** Opens the three markets, with supply and some debt of the deployer in each. */
export function seedLending(contracts: Contracts, { tokens, lending }: PlannedAddresses): DeployerCall[] {
  const { comptroller, oracle, markets } = lending;
  const call = (name: keyof Contracts, to: Address, functionName: string, args: readonly unknown[]): DeployerCall => ({
    to,
    data: encodeFunctionData({ abi: contracts[name].abi, functionName, args }),
  });
  return [
    ...MARKETS.map(({ symbol, asset, decimals }) =>
      call('PriceOracle', oracle, 'setUnderlying', [markets[symbol], asset, decimals]),
    ),
    call('Comptroller', comptroller, '_setPriceOracle', [oracle]),
    call('Comptroller', comptroller, '_setCloseFactor', [parseUnits('0.5', 18)]),
    call('Comptroller', comptroller, '_setLiquidationIncentive', [parseUnits('1.08', 18)]),
    ...MARKETS.flatMap(({ symbol, decimals, collateralFactor, supply }) => [
      call('Comptroller', comptroller, '_supportMarket', [markets[symbol]]),
      call('Comptroller', comptroller, '_setCollateralFactor', [markets[symbol], parseUnits(collateralFactor, 18)]),
      call('CErc20Immutable', markets[symbol], '_setReserveFactor', [parseUnits('0.1', 18)]),
      approveAll(tokens[symbol], markets[symbol]),
      call('CErc20Immutable', markets[symbol], 'mint', [parseUnits(supply, decimals)]),
    ]),
    call('Comptroller', comptroller, 'enterMarkets', [MARKETS.map(({ symbol }) => markets[symbol])]),
    ...MARKETS.map(({ symbol, decimals, borrowed }) =>
      call('CErc20Immutable', markets[symbol], 'borrow', [parseUnits(borrowed, decimals)]),
    ),
  ];
}
