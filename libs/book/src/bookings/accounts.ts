/** Base units by account; a debit is positive, a credit negative. */
export type AccountPosition = ReadonlyMap<string, bigint>;

/** Tokens or coins that an account of ours holds on the chain. */
export const chainAccount = (chainId: number, address: string): string => `chain:${chainId}:${address.toLowerCase()}`;
/** Settled for a payer whose request is not decided yet. */
export const payerAccount = (address: string): string => `payer:${address.toLowerCase()}`;
export const revenueAccount = (route: string): string => `revenue:${route}`;
/** Gas that a relayer or a wallet paid for. */
export const gasAccount = (address: string): string => `gas:${address.toLowerCase()}`;
/** Coins that the jobs of a wallet sent along. */
export const jobsAccount = (address: string): string => `jobs:${address.toLowerCase()}`;

/** Arrived and refused, released, or without any request: owed to its payer until it is redeemed or refunded. */
export const OWED = { refused: 'owed:refused', released: 'owed:released', unclaimed: 'owed:unclaimed' } as const;
/** What was paid back although it had bought an answer: it lowers revenue. */
export const REFUNDS = 'refunds';

/** `1328:0x…`, or `1328:native` for the chain's own coin. */
export const assetName = (chainId: number, asset: string): string => `${chainId}:${asset.toLowerCase()}`;

/** What has to be entered for one position to become the other. */
export function difference(before: AccountPosition, after: AccountPosition): Map<string, bigint> {
  const moved = new Map<string, bigint>();
  for (const account of new Set([...before.keys(), ...after.keys()])) {
    const amount = (after.get(account) ?? 0n) - (before.get(account) ?? 0n);
    if (amount !== 0n) moved.set(account, amount);
  }
  return moved;
}
