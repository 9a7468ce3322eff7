import { addLiquidity } from './add-liquidity.js';
import { approve } from './approve.js';
import { borrowLending } from './borrow-lending.js';
import { claimUnstaked } from './claim-unstaked.js';
import { getAccount } from './get-account.js';
import { getERC20Allowance } from './get-erc20-allowance.js';
import { getERC20Balance } from './get-erc20-balance.js';
import { getERC721Balance } from './get-erc721-balance.js';
import { getLendingMarkets } from './get-lending-markets.js';
import { getLendingPosition } from './get-lending-position.js';
import { getLiquidityPositions } from './get-liquidity-positions.js';
import { getStakeQuote } from './get-stake-quote.js';
import { getStakingPosition } from './get-staking-position.js';
import { getSwapQuote } from './get-swap-quote.js';
import { getTransaction } from './get-transaction.js';
import { listTokens } from './list-tokens.js';
import { mintERC721 } from './mint-erc721.js';
import { mintLending } from './mint-lending.js';
import type { Operation } from './operation.js';
import { payForResource } from './pay-for-resource.js';
import { perpsClosePosition } from './perps-close-position.js';
import { perpsDeposit } from './perps-deposit.js';
import { perpsGetPositions } from './perps-get-positions.js';
import { perpsGetProducts } from './perps-get-products.js';
import { perpsOpenPosition } from './perps-open-position.js';
import { perpsWithdraw } from './perps-withdraw.js';
import { redeemLending } from './redeem-lending.js';
import { removeLiquidity } from './remove-liquidity.js';
import { repayLending } from './repay-lending.js';
import { resolveToken } from './resolve-token.js';
import { stake } from './stake.js';
import { swap } from './swap.js';
import { transfer } from './transfer.js';
import { transferERC721 } from './transfer-erc721.js';
import { unstake } from './unstake.js';

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
