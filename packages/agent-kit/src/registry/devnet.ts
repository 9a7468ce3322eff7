import { compoundV2 } from '../protocols/lending/compound-v2.js';
import { uniswapV3Liquidity } from '../protocols/liquidity/uniswap-v3.js';
import { perpsExchange } from '../protocols/perps/perps-exchange.js';
import { liquidStaking } from '../protocols/staking/liquid-staking.js';
import { uniswapV3Swap } from '../protocols/swap/uniswap-v3.js';
import { DEVNET_CONTRACTS } from './devnet-contracts.js';
import type { ChainRegistry } from './registry.js';

/** Of `npm run dev -- --chains 2`. */
const SECOND_CHAIN_ID = 84532;

const { tokens, uniswapV3, lending, staking, perps } = DEVNET_CONTRACTS;

/**
 * The chain that `npm run dev` starts, under any chain id. FEE, RVT and EVIL exist there too, and are deliberately not
 * listed: they stand for tokens that an attacker asks a user to use by address.
 */
export function createDevnetRegistry(chainId: number): ChainRegistry {
  return {
    chainId,
    name: 'Tollgate devnet',
    native: { symbol: 'SEI', decimals: 18 },
    explorerUrl: null,
    tokens: [
      { address: tokens.USDC, symbol: 'USDC', decimals: 6 },
      { address: tokens.WSEI, symbol: 'WSEI', decimals: 18 },
      { address: tokens.WBTC, symbol: 'WBTC', decimals: 8 },
      { address: tokens.stSEI, symbol: 'stSEI', decimals: 18 },
    ],
    payments: { network: chainId === SECOND_CHAIN_ID ? 'chain-testnet-2' : 'chain-testnet', tokens: [tokens.USDC] },
    protocols: [
      uniswapV3Swap({ ...uniswapV3, wrappedNative: tokens.WSEI, chainIds: [chainId] }),
      uniswapV3Liquidity({ ...uniswapV3, wrappedNative: tokens.WSEI, chainIds: [chainId] }),
      // The divisor of a year in its rate model: blocks are made on demand.
      compoundV2({ comptroller: lending.comptroller, chainIds: [chainId], blocksPerYear: 2_102_400n }),
      liquidStaking({ contract: staking, chainIds: [chainId] }),
      perpsExchange({ contract: perps, chainIds: [chainId] }),
    ],
  };
}
