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
import type { Toolset } from './toolsets.js';

const BY_TOOLSET = {
  read: [getAccount, getTransaction, getERC20Balance, getERC20Allowance, resolveToken, listTokens],
  tokens: [transfer, approve],
  nfts: [getERC721Balance, transferERC721, mintERC721],
  swap: [getSwapQuote, swap],
  liquidity: [getLiquidityPositions, addLiquidity, removeLiquidity],
  lend: [getLendingMarkets, getLendingPosition, mintLending, redeemLending, borrowLending, repayLending],
  stake: [getStakeQuote, getStakingPosition, stake, unstake, claimUnstaked],
  perps: [perpsGetProducts, perpsGetPositions, perpsDeposit, perpsWithdraw, perpsOpenPosition, perpsClosePosition],
  pay: [listPaidResources, payForResource],
} as const satisfies Record<Exclude<Toolset, 'plugins'>, readonly Operation[]>;

const ALL = Object.values(BY_TOOLSET).flat();

/** All operations of the kit, in display order. */
export const CATALOG = [...ALL.filter(({ readOnly }) => readOnly), ...ALL.filter(({ readOnly }) => !readOnly)];

export function toolsetOf(operation: string): Toolset {
  const found = Object.entries(BY_TOOLSET).find(([, operations]) => operations.some(({ name }) => name === operation));
  return (found?.[0] as Toolset | undefined) ?? 'plugins';
}
