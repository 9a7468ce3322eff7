/**
 * The token of a payment as balances, entries and differences name it: `<chainId>:<address>`. Null where the payment does not
 * say its token, or its chain.
 */
export function nameAsset({ network, asset }: { network: string | null; asset: string | null }): string | null {
  const chainId = /^eip155:(\d+)$/.exec(network ?? '')?.[1];
  return chainId === undefined || asset === null ? null : `${chainId}:${asset}`;
}
