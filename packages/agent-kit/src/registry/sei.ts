import { getAddress } from 'viem';

import { compoundV2 } from '../protocols/lending/compound-v2.js';
import { uniswapV3Liquidity } from '../protocols/liquidity/uniswap-v3.js';
import type { ChainRegistry } from './registry.js';

const TEST_USDC = '0x4fCF1784B31630811181f670Aea7A7bEF803eaED';

/** Sei's test network. No protocol is known to be deployed there. */
export const CHAIN_1328: ChainRegistry = {
  chainId: 1328,
  name: 'Sei Testnet',
  native: { symbol: 'SEI', decimals: 18 },
  explorerUrl: 'https://testnet.seiscan.io',
  tokens: [{ address: TEST_USDC, symbol: 'USDC', decimals: 6 }],
  payments: { network: 'chain-testnet', tokens: [TEST_USDC] },
  protocols: [],
};

const WSEI = getAddress('0xe30fedd158a2e3b13e9badaeabafc5516e95e8c7');

/**
 * Sei's main network. Protocols without a fitting adapter are left out: the swap aggregator and the perps exchange use
 * HTTP services of their own, and staking has another interface; plugins can add them. The network name that gates use
 * for this chain is not settled.
 */
export const CHAIN_1329: ChainRegistry = {
  chainId: 1329,
  name: 'Sei Network',
  native: { symbol: 'SEI', decimals: 18 },
  explorerUrl: 'https://seiscan.io',
  tokens: [
    { address: getAddress('0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392'), symbol: 'USDC', decimals: 6 },
    { address: WSEI, symbol: 'WSEI', decimals: 18 },
    // Six decimals, unlike the native token that it represents.
    { address: getAddress('0x5cf6826140c1c56ff49c808a1a75407cd1df9423'), symbol: 'iSEI', decimals: 6 },
  ],
  protocols: [
    // All of its markets have an underlying token; that of the native token is WSEI. Its rates are per second.
    compoundV2({
      comptroller: getAddress('0x71034bf5eC0FAd7aEE81a213403c8892F3d8CAeE'),
      chainIds: [1329],
      blocksPerYear: 31_536_000n,
    }),
    uniswapV3Liquidity({
      positionManager: getAddress('0xa7FDcBe645d6b2B98639EbacbC347e2B575f6F70'),
      wrappedNative: WSEI,
      chainIds: [1329],
    }),
  ],
};
