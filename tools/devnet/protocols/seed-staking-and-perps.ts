import { encodeFunctionData, parseEther, parseUnits } from 'viem';

import type { Contracts, PlannedAddresses } from './create-contracts.js';
import type { DeployerCall } from './deployer.js';
import { approveAll } from './seed-tokens.js';
import { encodeSetPrice, type PricedAsset } from './set-price.js';

/** In USD per whole unit. */
const PRICES: readonly [PricedAsset, string][] = [
  ['USDC', '1'],
  ['SEI', '0.5'],
  ['BTC', '60000'],
  ['ETH', '3000'],
  ['ATOM', '4'],
];

const PRODUCTS = [
  { baseAsset: 'BTC', increment: '0.001', maxQuantity: '20', active: true },
  { baseAsset: 'ETH', increment: '0.01', maxQuantity: '400', active: true },
  { baseAsset: 'SEI', increment: '1', maxQuantity: '2000000', active: true },
  { baseAsset: 'ATOM', increment: '0.1', maxQuantity: '1000', active: false },
];

/** Prices first: lending and perps both need them. */
export function seedPrices(addresses: PlannedAddresses): DeployerCall[] {
  return PRICES.map(([asset, price]) => encodeSetPrice(addresses, asset, price));
}

/** A stake that stays, and rewards for years. */
export function seedStaking(contracts: Contracts, { staking }: PlannedAddresses): DeployerCall[] {
  const { abi } = contracts.LiquidStaking;
  return [
    {
      to: staking,
      data: encodeFunctionData({ abi, functionName: 'fundRewards' }),
      valueWei: parseEther('1000000'),
    },
    { to: staking, data: encodeFunctionData({ abi, functionName: 'stake' }), valueWei: parseEther('100000') },
  ];
}

/** The products, and a house that can pay winners. */
export function seedPerps(contracts: Contracts, { tokens, perps }: PlannedAddresses): DeployerCall[] {
  const { abi } = contracts.PerpsExchange;
  return [
    approveAll(tokens.USDC, perps),
    { to: perps, data: encodeFunctionData({ abi, functionName: 'fundHouse', args: [parseUnits('10000000', 6)] }) },
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
      return { to: perps, data: encodeFunctionData({ abi, functionName: 'addProduct', args: [product] }) };
    }),
  ];
}
