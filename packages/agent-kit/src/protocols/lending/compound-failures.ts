import { parseAbi } from 'viem';

import type { AgentKitErrorCode } from '../../types/agent-kit-error.js';
import type { StepFailures } from '../../types/plan.js';

/** A market's error numbers, from 1. */
const MARKET_ERRORS = [
  'UNAUTHORIZED',
  'BAD_INPUT',
  'COMPTROLLER_REJECTION',
  'COMPTROLLER_CALCULATION_ERROR',
  'INTEREST_RATE_MODEL_ERROR',
  'INVALID_ACCOUNT_PAIR',
  'INVALID_CLOSE_AMOUNT_REQUESTED',
  'INVALID_COLLATERAL_FACTOR',
  'MATH_ERROR',
  'MARKET_NOT_FRESH',
  'MARKET_NOT_LISTED',
  'TOKEN_INSUFFICIENT_ALLOWANCE',
  'TOKEN_INSUFFICIENT_BALANCE',
  'TOKEN_INSUFFICIENT_CASH',
  'TOKEN_TRANSFER_IN_FAILED',
  'TOKEN_TRANSFER_OUT_FAILED',
] as const;

/** The comptroller's error numbers, from 1: the detail of a market's COMPTROLLER_REJECTION. */
const COMPTROLLER_ERRORS = [
  'UNAUTHORIZED',
  'COMPTROLLER_MISMATCH',
  'INSUFFICIENT_SHORTFALL',
  'INSUFFICIENT_LIQUIDITY',
  'INVALID_CLOSE_FACTOR',
  'INVALID_COLLATERAL_FACTOR',
  'INVALID_LIQUIDATION_INCENTIVE',
  'MARKET_NOT_ENTERED',
  'MARKET_NOT_LISTED',
  'MARKET_ALREADY_LISTED',
  'MATH_ERROR',
  'NONZERO_BORROW_BALANCE',
  'PRICE_ERROR',
  'REJECTION',
  'SNAPSHOT_ERROR',
  'TOO_MANY_ASSETS',
  'TOO_MUCH_REPAY',
] as const;

const MARKET_CODES: Partial<Record<(typeof MARKET_ERRORS)[number], AgentKitErrorCode>> = {
  TOKEN_INSUFFICIENT_ALLOWANCE: 'INSUFFICIENT_BALANCE',
  TOKEN_INSUFFICIENT_BALANCE: 'INSUFFICIENT_BALANCE',
  TOKEN_INSUFFICIENT_CASH: 'INSUFFICIENT_LIQUIDITY',
};

// What the comptroller calls the account's liquidity is the borrowing power of its collateral.
const COMPTROLLER_CODES: Partial<Record<(typeof COMPTROLLER_ERRORS)[number], AgentKitErrorCode>> = {
  INSUFFICIENT_LIQUIDITY: 'INSUFFICIENT_COLLATERAL',
};

const COMPTROLLER_REJECTION = MARKET_ERRORS.indexOf('COMPTROLLER_REJECTION') + 1;

type ReturnCodes = NonNullable<StepFailures['returnCodes']>;

/**
 * Names and codes of everything a market can return instead of 0; refusals of its comptroller by their detail, `3:4`.
 */
const MARKET_RETURN_CODES: ReturnCodes = Object.fromEntries([
  ...MARKET_ERRORS.map((name, index) => [`${index + 1}`, { name, code: MARKET_CODES[name] ?? 'PROTOCOL_FAILED' }]),
  ...COMPTROLLER_ERRORS.map((name, index) => [
    `${COMPTROLLER_REJECTION}:${index + 1}`,
    { name: `COMPTROLLER_REJECTION: ${name}`, code: COMPTROLLER_CODES[name] ?? 'PROTOCOL_FAILED' },
  ]),
]) as ReturnCodes;

/** Later versions revert with these. */
const errors = parseAbi([
  'error MintComptrollerRejection(uint256 errorCode)',
  'error MintFreshnessCheck()',
  'error RedeemComptrollerRejection(uint256 errorCode)',
  'error RedeemFreshnessCheck()',
  'error RedeemTransferOutNotPossible()',
  'error BorrowComptrollerRejection(uint256 errorCode)',
  'error BorrowFreshnessCheck()',
  'error BorrowCashNotAvailable()',
  'error RepayBorrowComptrollerRejection(uint256 errorCode)',
  'error RepayBorrowFreshnessCheck()',
]);

/** How calls of a Compound v2 market fail, in all of its versions: by a number, an error, or a reason. */
export const marketFailures: StepFailures = {
  errors,
  codes: {
    'BorrowComptrollerRejection(4)': 'INSUFFICIENT_COLLATERAL',
    'RedeemComptrollerRejection(4)': 'INSUFFICIENT_COLLATERAL',
    ComptrollerRejection: 'PROTOCOL_FAILED',
    FreshnessCheck: 'PROTOCOL_FAILED',
    BorrowCashNotAvailable: 'INSUFFICIENT_LIQUIDITY',
    RedeemTransferOutNotPossible: 'INSUFFICIENT_LIQUIDITY',
    'borrow cap reached': 'INSUFFICIENT_LIQUIDITY',
    'is paused': 'PROTOCOL_FAILED',
    'redeemTokens zero': 'BELOW_MINIMUM',
    // Interest only increases between the plan and the block, so this happens only if a part was repaid meanwhile.
    REPAY_BORROW_NEW_ACCOUNT_BORROW_BALANCE_CALCULATION_FAILED: 'PROTOCOL_FAILED',
  },
  returnCodes: MARKET_RETURN_CODES,
};
