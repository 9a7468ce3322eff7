import type { PublicClient } from 'viem';

import { CHAIN_1328 } from './chain-1328.js';
import { CHAIN_1329 } from './chain-1329.js';
import { createDevnetRegistry } from './devnet.js';
import { DEVNET_CONTRACTS } from './devnet-contracts.js';
import type { ChainRegistry } from './registry.js';

/**
 * What the kit knows of the chain behind a client. A devnet is told by its code, on any chain id; a chain that is not known
 * has its native token, and other tokens by address only.
 */
export async function findRegistry(client: PublicClient, chainId: number): Promise<ChainRegistry> {
  // Not USDC: that one stands at the same address on the test network.
  const code = await client.getCode({ address: DEVNET_CONTRACTS.tokens.WSEI });
  if (code !== undefined && code !== '0x') return createDevnetRegistry(chainId);
  return [CHAIN_1328, CHAIN_1329].find((registry) => registry.chainId === chainId) ?? createBareRegistry(chainId);
}

function createBareRegistry(chainId: number): ChainRegistry {
  return {
    chainId,
    name: `chain ${chainId}`,
    // Not ETH: on a chain of another coin, who asks for ETH would send that.
    native: { symbol: 'NATIVE', decimals: 18 },
    explorerUrl: null,
    tokens: [],
    protocols: [],
  };
}
