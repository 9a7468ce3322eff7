import { parseAbi } from 'viem';

import type { StepFailures } from '../../types/plan.js';

export const perpsAbi = parseAbi([
  'struct Product { uint32 id; string symbol; string baseAsset; string quoteAsset; bool active; uint256 markPrice; uint256 increment; uint256 minQuantity; uint256 maxQuantity; uint256 makerFeeBps; uint256 takerFeeBps; uint256 initialWeightBps; uint256 maintenanceWeightBps; }',
  'struct Position { uint32 productId; bool isLong; uint256 quantity; uint256 entryPrice; uint256 margin; int256 unrealizedPnl; uint256 liquidationPrice; }',
  'function marginToken() view returns (address)',
  'function freeMargin(address account) view returns (uint256)',
  'function products() view returns (Product[] memory)',
  'function positionsOf(address account) view returns (Position[] memory)',
  'function deposit(uint256 amount)',
  'function withdraw(uint256 amount)',
  'function open(uint32 productId, bool isLong, uint256 quantity, uint256 leverage, uint256 limitPrice)',
  'function close(uint32 productId, uint256 quantity, uint256 limitPrice)',
  'error InsufficientMargin(uint256 required, uint256 available)',
  'error LeverageTooHigh(uint256 leverage, uint256 maximum)',
  'error LeverageIsZero()',
  'error PriceMoved(uint256 price, uint256 limit)',
  'error BadQuantity(uint256 quantity)',
  'error ProductInactive(uint32 productId)',
  'error NoPosition(uint32 productId)',
  'error OppositePosition(uint32 productId)',
  'error HouseFundsTooLow(uint256 wanted, uint256 available)',
]);

/** The meanings of the exchange's errors. */
export const perpsFailures: StepFailures = {
  errors: perpsAbi,
  codes: {
    InsufficientMargin: 'INSUFFICIENT_MARGIN',
    LeverageTooHigh: 'LEVERAGE_TOO_HIGH',
    PriceMoved: 'SLIPPAGE',
    BadQuantity: 'INVALID_INPUT',
    LeverageIsZero: 'INVALID_INPUT',
    NoPosition: 'INVALID_INPUT',
    OppositePosition: 'INVALID_INPUT',
    ProductInactive: 'PROTOCOL_FAILED',
    HouseFundsTooLow: 'INSUFFICIENT_LIQUIDITY',
  },
};
