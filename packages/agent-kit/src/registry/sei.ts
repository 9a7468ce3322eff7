import { getAddress } from 'viem';

import { compoundV2 } from '../protocols/lending/compound-v2.js';
import { uniswapV3Liquidity } from '../protocols/liquidity/uniswap-v3.js';
import { uniswapV3Swap } from '../protocols/swap/uniswap-v3.js';
import type { ChainRegistry } from './registry.js';

const TEST_USDC = '0x4fCF1784B31630811181f670Aea7A7bEF803eaED';

/** Sei's test network. No protocol is known to be deployed there. Source: https://docs.sei.io/evm/usdc-on-sei. */
export const CHAIN_1328: ChainRegistry = {
  chainId: 1328,
  name: 'Sei Testnet',
  native: { symbol: 'SEI', decimals: 18 },
  explorerUrl: 'https://testnet.seiscan.io',
  tokens: [{ address: TEST_USDC, symbol: 'USDC', decimals: 6 }],
  payments: { network: 'chain-testnet', tokens: [TEST_USDC] },
  protocols: [],
};

const USDC = getAddress('0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392');
const WSEI = getAddress('0xe30fedd158a2e3b13e9badaeabafc5516e95e8c7');
const SAILOR_FACTORY = getAddress('0xA51136931fdd3875902618bF6B3abe38Ab2D703b');

/**
 * Sei's main network. Protocols without a fitting adapter are left out: the positions of DragonSwap (its functions have other
 * names), swap aggregators, the perps exchange (services of their own over HTTP), and staking (another interface). Plugins
 * can add them.
 *
 * Sources: https://docs.sei.io/evm/usdc-on-sei (USDC), and https://docs.sei.io/evm/ecosystem-contracts, which is
 * `src/components/EcosystemContracts/Ecosystem-Contracts.csv` of the repository sei-protocol/sei-docs (all others but the
 * position manager, which is on the page "Contract Addresses" of Sailor's documentation).
 */
export const CHAIN_1329: ChainRegistry = {
  chainId: 1329,
  name: 'Sei Network',
  native: { symbol: 'SEI', decimals: 18 },
  explorerUrl: 'https://seiscan.io',
  tokens: [
    { address: USDC, symbol: 'USDC', decimals: 6 },
    { address: WSEI, symbol: 'WSEI', decimals: 18 },
    // Six decimals, unlike the native token that it represents.
    { address: getAddress('0x5cf6826140c1c56ff49c808a1a75407cd1df9423'), symbol: 'iSEI', decimals: 6 },
  ],
  // The network's name in x402: npm x402 1.2.0.
  payments: { network: 'sei', tokens: [USDC] },
  protocols: [
    // Sailor, whose contracts are those of Uniswap v3.
    uniswapV3Swap({
      router: getAddress('0xd1EFe48B71Acd98Db16FcB9E7152B086647Ef544'),
      quoter: getAddress('0xE40703878aC5d3F76eAc66f8688A8F5652Af85b1'),
      factory: SAILOR_FACTORY,
      wrappedNative: WSEI,
      chainIds: [1329],
    }),
    uniswapV3Liquidity({
      positionManager: getAddress('0xe294d5Eb435807cD21017013Bef620ed1AeafbeB'),
      factory: SAILOR_FACTORY,
      wrappedNative: WSEI,
      chainIds: [1329],
    }),
    // Takara. All of its markets have an underlying token; that of the native token is WSEI. Its rates are per second.
    compoundV2({
      comptroller: getAddress('0x71034bf5eC0FAd7aEE81a213403c8892F3d8CAeE'),
      chainIds: [1329],
      blocksPerYear: 31_536_000n,
    }),
  ],
};
