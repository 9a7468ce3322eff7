import { KNOWN_CHAINS, type KnownChain } from '@tollgate/protocol';
import { getAddress, type PublicClient } from 'viem';

import { CHAIN_8453 } from './base.js';
import { DEVNET_CONTRACTS } from './devnet-contracts.js';
import { createDevnetRegistry } from './devnet.js';
import type { ChainRegistry } from './registry.js';
import { CHAIN_1328, CHAIN_1329 } from './sei.js';

/**
 * What the kit knows about the chain behind a client. A devnet is recognised by its code, under any chain id; an
 * unknown chain has its native token, and other tokens by address only.
 */
export async function findRegistry(client: PublicClient, chainId: number): Promise<ChainRegistry> {
  // Not USDC, which has the same address on the test network.
  if (await client.getCode({ address: DEVNET_CONTRACTS.tokens.WSEI })) return createDevnetRegistry(chainId);
  const own = [CHAIN_1328, CHAIN_1329, CHAIN_8453].find((registry) => registry.chainId === chainId);
  const known = KNOWN_CHAINS.find(({ id }) => id === chainId);
  return own ?? (known ? createKnownRegistry(known) : createBareRegistry(chainId));
}

/** Of a chain that settings may name: its coin, and USDC to pay with. */
function createKnownRegistry({ id, name, coin, explorer, tokens: [usdc] }: KnownChain): ChainRegistry {
  const tokens = usdc ? [{ address: getAddress(usdc.asset), symbol: usdc.symbol, decimals: usdc.decimals }] : [];
  return {
    chainId: id,
    name,
    native: { symbol: coin, decimals: 18 },
    explorerUrl: explorer,
    tokens,
    payments: { network: name, tokens: tokens.map(({ address }) => address) },
    protocols: [],
  };
}

function createBareRegistry(chainId: number): ChainRegistry {
  return {
    chainId,
    name: `chain ${chainId}`,
    // Not ETH: on a chain with another coin, a request for ETH would send that coin.
    native: { symbol: 'NATIVE', decimals: 18 },
    explorerUrl: null,
    tokens: [],
    protocols: [],
  };
}
