import { addLiquidity } from './add-liquidity.js';
import { approve } from './approve.js';
import { getERC20Allowance } from './get-erc20-allowance.js';
import { getERC20Balance } from './get-erc20-balance.js';
import { getERC721Balance } from './get-erc721-balance.js';
import { getLiquidityPositions } from './get-liquidity-positions.js';
import { getSwapQuote } from './get-swap-quote.js';
import { listTokens } from './list-tokens.js';
import { mintERC721 } from './mint-erc721.js';
import type { Operation } from './operation.js';
import { payForResource } from './pay-for-resource.js';
import { removeLiquidity } from './remove-liquidity.js';
import { resolveToken } from './resolve-token.js';
import { swap } from './swap.js';
import { transfer } from './transfer.js';
import { transferERC721 } from './transfer-erc721.js';

/** Every operation of the kit, in the order in which people see them. */
export const CATALOG = [
  getERC20Balance,
  getERC20Allowance,
  getERC721Balance,
  resolveToken,
  listTokens,
  getSwapQuote,
  getLiquidityPositions,
  transfer,
  approve,
  transferERC721,
  mintERC721,
  swap,
  addLiquidity,
  removeLiquidity,
  payForResource,
] as const satisfies readonly Operation[];
