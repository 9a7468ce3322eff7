import type { Operation } from './define/operation.js';
import {
  borrowLending,
  getLendingMarkets,
  getLendingPosition,
  mintLending,
  redeemLending,
  repayLending,
} from './lending.js';
import { addLiquidity, getLiquidityPositions, removeLiquidity } from './liquidity.js';
import { listPaidResources, payForResource } from './payment.js';
import {
  perpsClosePosition,
  perpsDeposit,
  perpsGetPositions,
  perpsGetProducts,
  perpsOpenPosition,
  perpsWithdraw,
} from './perps.js';
import { claimUnstaked, getStakeQuote, getStakingPosition, stake, unstake } from './staking.js';
import { getSwapQuote, swap } from './swap.js';
import { approve } from './tokens/approve.js';
import { getERC721Balance, mintERC721, transferERC721 } from './tokens/erc721.js';
import { getTransaction } from './tokens/get-transaction.js';
import { getAccount, getERC20Allowance, getERC20Balance, listTokens, resolveToken } from './tokens/read-tokens.js';
import { transfer } from './tokens/transfer.js';

/** All operations of the kit, in display order. */
export const CATALOG = [
  getAccount,
  getTransaction,
  getERC20Balance,
  getERC20Allowance,
  getERC721Balance,
  resolveToken,
  listTokens,
  getSwapQuote,
  getLiquidityPositions,
  getLendingMarkets,
  getLendingPosition,
  getStakeQuote,
  getStakingPosition,
  perpsGetProducts,
  perpsGetPositions,
  listPaidResources,
  transfer,
  approve,
  transferERC721,
  mintERC721,
  swap,
  addLiquidity,
  removeLiquidity,
  mintLending,
  redeemLending,
  borrowLending,
  repayLending,
  stake,
  unstake,
  claimUnstaked,
  perpsDeposit,
  perpsWithdraw,
  perpsOpenPosition,
  perpsClosePosition,
  payForResource,
] as const satisfies readonly Operation[];
