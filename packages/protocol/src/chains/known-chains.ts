import type { Hex } from '../wire/hex.js';

/** A chain that settings may name. */
export interface KnownChain {
  /** As in settings; also the network name of x402 version 1, where that has one. */
  readonly name: string;
  readonly id: number;
  /** The network name of x402 version 1 clients, which refuse a whole challenge with any other name; null: none. */
  readonly v1Network: string | null;
  /** Symbol of the coin that pays for gas, of 18 decimals. */
  readonly coin: string;
  /** Where people look at transactions: `{explorer}/tx/{hash}`; null: none is known. */
  readonly explorer: string | null;
  readonly tokens: readonly ChainToken[];
}

/** A token that settings may name on its chain. */
export interface ChainToken {
  readonly symbol: string;
  readonly asset: Hex;
  readonly decimals: number;
  /** Name and version in its EIP-712 domain. */
  readonly domainName: string;
  readonly domainVersion: string;
}

/** Native USDC. Addresses: developers.circle.com/stablecoins/usdc-contract-addresses. Names: what each contract states. */
const usdc = (asset: Hex, domainName: 'USD Coin' | 'USDC'): ChainToken[] => [
  { symbol: 'USDC', asset, decimals: 6, domainName, domainVersion: '2' },
];

const chain = (name: string, id: number, coin: string, explorer: string | null, tokens: ChainToken[] = []) => ({
  name,
  id,
  v1Network: name,
  coin,
  explorer,
  tokens,
});

/**
 * Ids, coins and explorers are those of the chain registry (`viem/chains`); network names those of the published x402
 * version 1 clients.
 */
export const KNOWN_CHAINS: readonly KnownChain[] = [
  chain('base', 8453, 'ETH', 'https://basescan.org', usdc('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', 'USD Coin')),
  chain(
    'base-sepolia',
    84532,
    'ETH',
    'https://sepolia.basescan.org',
    usdc('0x036cbd53842c5426634e7929541ec2318f3dcf7e', 'USDC'),
  ),
  chain('sei', 1329, 'SEI', 'https://seiscan.io', usdc('0xe15fc38f6d8c56af07bbcbe3baf5708a2bf42392', 'USDC')),
  chain(
    'sei-testnet',
    1328,
    'SEI',
    'https://testnet.seiscan.io',
    usdc('0x4fcf1784b31630811181f670aea7a7bef803eaed', 'USDC'),
  ),
  chain(
    'polygon',
    137,
    'POL',
    'https://polygonscan.com',
    usdc('0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', 'USD Coin'),
  ),
  chain(
    'polygon-amoy',
    80002,
    'POL',
    'https://amoy.polygonscan.com',
    usdc('0x41e94eb019c0762f9bfcf9fb1e58725bfb0e7582', 'USDC'),
  ),
  chain(
    'avalanche',
    43114,
    'AVAX',
    'https://snowtrace.io',
    usdc('0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e', 'USD Coin'),
  ),
  chain(
    'avalanche-fuji',
    43113,
    'AVAX',
    'https://testnet.snowtrace.io',
    usdc('0x5425890298aed601595a70ab815c96711a31bc65', 'USD Coin'),
  ),
  chain('story', 1514, 'DATA', 'https://datanetscan.io'),
  chain('abstract', 2741, 'ETH', 'https://abscan.org'),
  chain('abstract-testnet', 11124, 'ETH', 'https://sepolia.abscan.org'),
  chain('peaq', 3338, 'PEAQ', 'https://peaq.subscan.io'),
  chain('iotex', 4689, 'IOTX', 'https://iotexscan.io'),
  chain('educhain', 41923, 'EDU', 'https://explorer.educhain.xyz'),
  chain('skale-base-sepolia', 324705682, 'CREDIT', 'https://base-sepolia-testnet-explorer.skalenodes.com'),
  {
    ...chain(
      'ethereum',
      1,
      'ETH',
      'https://etherscan.io',
      usdc('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 'USD Coin'),
    ),
    v1Network: null,
  },
  {
    ...chain(
      'arbitrum',
      42161,
      'ETH',
      'https://arbiscan.io',
      usdc('0xaf88d065e77c8cc2239327c5edb3a432268e5831', 'USD Coin'),
    ),
    v1Network: null,
  },
  {
    ...chain(
      'optimism',
      10,
      'ETH',
      'https://optimistic.etherscan.io',
      usdc('0x0b2c639c533813f4aa9d7837caf62653d097ff85', 'USD Coin'),
    ),
    v1Network: null,
  },
];

const BY_ID: ReadonlyMap<number, KnownChain> = new Map(KNOWN_CHAINS.map((known) => [known.id, known]));

/** The x402 version 1 name of a chain; null when it has none. */
export function v1NetworkOf(chainId: number): string | null {
  return BY_ID.get(chainId)?.v1Network ?? null;
}

/** The CAIP-2 name of a chain, as used by x402 version 2: `eip155:1328`. */
export function caip2Of(chainId: number): string {
  return `eip155:${chainId}`;
}
