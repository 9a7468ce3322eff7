import type { ChainRegistry } from './registry.js';

const USDC = '0x4fCF1784B31630811181f670Aea7A7bEF803eaED';

/** Sei's test network. No protocol is known to be deployed there. */
export const CHAIN_1328: ChainRegistry = {
  chainId: 1328,
  name: 'Sei Testnet',
  native: { symbol: 'SEI', decimals: 18 },
  explorerUrl: 'https://testnet.seiscan.io',
  tokens: [{ address: USDC, symbol: 'USDC', decimals: 6 }],
  payments: { network: 'chain-testnet', tokens: [USDC] },
  protocols: [],
};
