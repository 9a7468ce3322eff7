import { uniswapV3Liquidity } from '../protocols/liquidity/uniswap-v3.js';
import { uniswapV3Swap } from '../protocols/swap/uniswap-v3.js';
import type { ChainRegistry } from './registry.js';

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const WETH = '0x4200000000000000000000000000000000000006';

const FACTORY = '0x33128a8fC17869897dcE68Ed026d694621f6FDfD';

/** Base. Lending is left out, since the markets of Compound v2's shape there have rates per second under other names. */
export const CHAIN_8453: ChainRegistry = {
  chainId: 8453,
  name: 'Base',
  native: { symbol: 'ETH', decimals: 18 },
  explorerUrl: 'https://basescan.org',
  // Source: npm @uniswap/default-token-list 22.21.0, chain 8453.
  tokens: [
    { address: USDC, symbol: 'USDC', decimals: 6 },
    { address: WETH, symbol: 'WETH', decimals: 18 },
    { address: '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb', symbol: 'DAI', decimals: 18 },
    { address: '0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf', symbol: 'cbBTC', decimals: 8 },
  ],
  // The network's name in x402: npm x402 1.2.0.
  payments: { network: 'base', tokens: [USDC] },
  protocols: [
    // Source: npm @uniswap/sdk-core 7.19.4, CHAIN_TO_ADDRESSES_MAP[8453].
    uniswapV3Swap({
      router: '0x2626664c2603336E57B271c5C0b26F421741e481',
      routerVersion: 2,
      quoter: '0x3d4e44Eb1374240CE5F1B871ab261CD16335B76a',
      factory: FACTORY,
      wrappedNative: WETH,
      chainIds: [8453],
    }),
    uniswapV3Liquidity({
      factory: FACTORY,
      positionManager: '0x03a520b32C04BF3bEEf7BEb72E919cf822Ed34f1',
      wrappedNative: WETH,
      chainIds: [8453],
    }),
  ],
};
