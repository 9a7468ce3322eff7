import type { CATALOG } from '../operations/catalog.js';

type CatalogName = (typeof CATALOG)[number]['name'];

/** What a model can be offered, by purpose. */
export const TOOLSETS = [
  ...(['read', 'tokens', 'nfts', 'pay', 'swap', 'liquidity', 'lend', 'stake', 'perps', 'plugins'] as const),
] as const;

export type Toolset = (typeof TOOLSETS)[number];

const TOOLSET_OF: Readonly<Record<CatalogName, Toolset>> = {
  getAccount: 'read',
  getTransaction: 'read',
  getERC20Balance: 'read',
  getERC20Allowance: 'read',
  resolveToken: 'read',
  listTokens: 'read',
  transfer: 'tokens',
  approve: 'tokens',
  getERC721Balance: 'nfts',
  transferERC721: 'nfts',
  mintERC721: 'nfts',
  listPaidResources: 'pay',
  payForResource: 'pay',
  getSwapQuote: 'swap',
  swap: 'swap',
  getLiquidityPositions: 'liquidity',
  addLiquidity: 'liquidity',
  removeLiquidity: 'liquidity',
  getLendingMarkets: 'lend',
  getLendingPosition: 'lend',
  mintLending: 'lend',
  redeemLending: 'lend',
  borrowLending: 'lend',
  repayLending: 'lend',
  getStakeQuote: 'stake',
  getStakingPosition: 'stake',
  stake: 'stake',
  unstake: 'stake',
  claimUnstaked: 'stake',
  perpsGetProducts: 'perps',
  perpsGetPositions: 'perps',
  perpsDeposit: 'perps',
  perpsWithdraw: 'perps',
  perpsOpenPosition: 'perps',
  perpsClosePosition: 'perps',
};

export function isToolset(name: string): name is Toolset {
  return TOOLSETS.some((toolset) => toolset === name);
}

/** The toolset of an operation: one that a plugin adds is in `plugins`. */
export function toolsetOf(operation: string): Toolset {
  return new Map<string, Toolset>(Object.entries(TOOLSET_OF)).get(operation) ?? 'plugins';
}
