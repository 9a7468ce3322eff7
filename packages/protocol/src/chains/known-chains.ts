import type { Hex } from '../wire/hex.js';

/** A chain that settings may name. */
export interface KnownChain {
  /** As in settings; also the network name of x402 version 1, where that has one. */
  readonly name: string;
  readonly id: number;
  /** The network name of x402 version 1 clients, which refuse a whole challenge with any other name; null: none. */
  readonly v1Network: string | null;
  /** Where people look at transactions: `{explorer}/tx/{hash}`. */
  readonly explorer: string;
  /** Symbol of the native coin, which pays for gas and has 18 decimals. */
  readonly coin: string;
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

type Row = readonly [
  id: number,
  name: string,
  isOfV1: boolean,
  coin: string,
  explorer: string,
  usdc?: Hex,
  usdcName?: 'USD Coin' | 'USDC',
];

/**
 * Ids, coins and explorers are those of the chain registry (`viem/chains`), names those of the published x402 version 1
 * clients, where they have one. USDC is the native one of Circle's list
 * (developers.circle.com/stablecoins/usdc-contract-addresses), under the EIP-712 name that each contract states.
 */
// oxfmt-ignore
const ROWS: readonly Row[] = [
  [8453, 'base', true, 'ETH', 'https://basescan.org', '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', 'USD Coin'],
  [84532, 'base-sepolia', true, 'ETH', 'https://sepolia.basescan.org', '0x036cbd53842c5426634e7929541ec2318f3dcf7e', 'USDC'],
  [1329, 'sei', true, 'SEI', 'https://seiscan.io', '0xe15fc38f6d8c56af07bbcbe3baf5708a2bf42392', 'USDC'],
  [1328, 'sei-testnet', true, 'SEI', 'https://testnet.seiscan.io', '0x4fcf1784b31630811181f670aea7a7bef803eaed', 'USDC'],
  [137, 'polygon', true, 'POL', 'https://polygonscan.com', '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', 'USD Coin'],
  [80002, 'polygon-amoy', true, 'POL', 'https://amoy.polygonscan.com', '0x41e94eb019c0762f9bfcf9fb1e58725bfb0e7582', 'USDC'],
  [43114, 'avalanche', true, 'AVAX', 'https://snowtrace.io', '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e', 'USD Coin'],
  [43113, 'avalanche-fuji', true, 'AVAX', 'https://testnet.snowtrace.io', '0x5425890298aed601595a70ab815c96711a31bc65', 'USD Coin'],
  [1, 'ethereum', false, 'ETH', 'https://etherscan.io', '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 'USD Coin'],
  [42161, 'arbitrum', false, 'ETH', 'https://arbiscan.io', '0xaf88d065e77c8cc2239327c5edb3a432268e5831', 'USD Coin'],
  [10, 'optimism', false, 'ETH', 'https://optimistic.etherscan.io', '0x0b2c639c533813f4aa9d7837caf62653d097ff85', 'USD Coin'],
  [1514, 'story', true, 'DATA', 'https://datanetscan.io'],
  [2741, 'abstract', true, 'ETH', 'https://abscan.org'],
  [11124, 'abstract-testnet', true, 'ETH', 'https://sepolia.abscan.org'],
  [3338, 'peaq', true, 'PEAQ', 'https://peaq.subscan.io'],
  [4689, 'iotex', true, 'IOTX', 'https://iotexscan.io'],
  [41923, 'educhain', true, 'EDU', 'https://explorer.educhain.xyz'],
  [324705682, 'skale-base-sepolia', true, 'CREDIT', 'https://base-sepolia-testnet-explorer.skalenodes.com'],
];

export const KNOWN_CHAINS: readonly KnownChain[] = ROWS.map(
  ([id, name, isOfV1, coin, explorer, asset, domainName = 'USDC']) => {
    const usdc = asset && { symbol: 'USDC', asset, decimals: 6, domainName, domainVersion: '2' };
    return { id, name, v1Network: isOfV1 ? name : null, explorer, coin, tokens: usdc ? [usdc] : [] };
  },
);

const BY_ID: ReadonlyMap<number, KnownChain> = new Map(KNOWN_CHAINS.map((known) => [known.id, known]));

/** The x402 version 1 name of a chain; null when it has none. */
export function v1NetworkOf(chainId: number): string | null {
  return BY_ID.get(chainId)?.v1Network ?? null;
}

/** The CAIP-2 name of a chain, as used by x402 version 2: `eip155:1328`. */
export function caip2Of(chainId: number): string {
  return `eip155:${chainId}`;
}
