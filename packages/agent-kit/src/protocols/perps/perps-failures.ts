import type { StepFailures } from '../../plan/plan.js';
import { perpsAbi } from './perps-abi.js';

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
