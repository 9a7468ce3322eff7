import type { Operation } from './define/operation.js';
import { borrowLending } from './lending/borrow-lending.js';
import { getLendingMarkets } from './lending/get-lending-markets.js';
import { getLendingPosition } from './lending/get-lending-position.js';
import { mintLending } from './lending/mint-lending.js';
import { redeemLending } from './lending/redeem-lending.js';
import { repayLending } from './lending/repay-lending.js';
import { addLiquidity } from './liquidity/add-liquidity.js';
import { getLiquidityPositions } from './liquidity/get-liquidity-positions.js';
import { removeLiquidity } from './liquidity/remove-liquidity.js';
import { payForResource } from './payment/pay-for-resource.js';
import { perpsClosePosition } from './perps/perps-close-position.js';
import { perpsDeposit } from './perps/perps-deposit.js';
import { perpsGetPositions } from './perps/perps-get-positions.js';
import { perpsGetProducts } from './perps/perps-get-products.js';
import { perpsOpenPosition } from './perps/perps-open-position.js';
import { perpsWithdraw } from './perps/perps-withdraw.js';
import { claimUnstaked } from './staking/claim-unstaked.js';
import { getStakeQuote } from './staking/get-stake-quote.js';
import { getStakingPosition } from './staking/get-staking-position.js';
import { stake } from './staking/stake.js';
import { unstake } from './staking/unstake.js';
import { getSwapQuote } from './swap/get-swap-quote.js';
import { swap } from './swap/swap.js';
import { approve } from './tokens/approve.js';
import { getAccount } from './tokens/get-account.js';
import { getERC20Allowance } from './tokens/get-erc20-allowance.js';
import { getERC20Balance } from './tokens/get-erc20-balance.js';
import { getERC721Balance } from './tokens/get-erc721-balance.js';
import { getTransaction } from './tokens/get-transaction.js';
import { listTokens } from './tokens/list-tokens.js';
import { mintERC721 } from './tokens/mint-erc721.js';
import { resolveToken } from './tokens/resolve-token.js';
import { transfer } from './tokens/transfer.js';
import { transferERC721 } from './tokens/transfer-erc721.js';

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
