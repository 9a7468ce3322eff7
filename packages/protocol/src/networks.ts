/** The network names of x402 version 1 clients. They refuse a whole challenge that contains any other name. */
const V1_NETWORKS: ReadonlyMap<number, string> = new Map([
  [1328, 'sei-testnet'],
  [1329, 'sei'],
  [1514, 'story'],
  [2741, 'abstract'],
  [3338, 'peaq'],
  [137, 'polygon'],
  [4689, 'iotex'],
  [8453, 'base'],
  [11124, 'abstract-testnet'],
  [41923, 'educhain'],
  [43113, 'avalanche-fuji'],
  [43114, 'avalanche'],
  [80002, 'polygon-amoy'],
  [84532, 'base-sepolia'],
  [324705682, 'skale-base-sepolia'],
]);

/** The x402 version 1 name of a chain; null when it has none. */
export function v1NetworkOf(chainId: number): string | null {
  return V1_NETWORKS.get(chainId) ?? null;
}

/** The CAIP-2 name of a chain, as used by x402 version 2: `eip155:1328`. */
export function caip2Of(chainId: number): string {
  return `eip155:${chainId}`;
}
