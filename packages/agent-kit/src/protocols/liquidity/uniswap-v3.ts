import type { ProtocolPlugin } from '../plugin.js';
import { createAdd } from './create-add.js';
import { createRemove } from './create-remove.js';
import type { UniswapV3LiquidityOptions } from './position-manager.js';
import { readPositions } from './read-positions.js';

/** Positions in the pools of a Uniswap v3 deployment. New ones cover the full price range. */
export function uniswapV3Liquidity(options: UniswapV3LiquidityOptions): ProtocolPlugin<'liquidity'> {
  return {
    kind: 'liquidity',
    name: 'Uniswap v3',
    chainIds: options.chainIds,
    create: (environment) => ({
      createAdd: (request) => createAdd(request, options, environment),
      createRemove: (request) => createRemove(request, options, environment),
      readPositions: (account) => readPositions(account, options, environment),
    }),
  };
}
