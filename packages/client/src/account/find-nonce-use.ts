import type { Hex } from '@tollgate/protocol';
import type { PublicClient } from 'viem';

/** The mined transaction that has used a nonce of an account. */
export interface NonceUse {
  txHash: Hex;
  /** Whether its block is final. */
  isFinal: boolean;
}

/**
 * Finds the mined transaction with a nonce, in its block. RPC servers have no look-up by nonce, so the block is searched
 * for in which the account's count passed it.
 * @returns null if the nonce is not used, or no transaction of the account in that block has it
 * @throws what the client throws, also for a state so old that the node has forgotten it
 */
export async function findNonceUse(
  client: PublicClient,
  { address, nonce }: { address: Hex; nonce: number },
): Promise<NonceUse | null> {
  const isUsedAt = async (blockNumber: bigint) => (await client.getTransactionCount({ address, blockNumber })) > nonce;
  let used = (await client.getBlock({ blockTag: 'latest' })).number;
  if (!(await isUsedAt(used))) return null;
  // Most look-ups follow soon after the use, so the search begins at the newest block, in growing steps.
  let unused = -1n;
  for (let step = 1n; unused < 0n && used >= step; step *= 4n) {
    if (await isUsedAt(used - step)) used -= step;
    else unused = used - step;
  }
  while (used - unused > 1n) {
    const middle = (used + unused) / 2n;
    if (await isUsedAt(middle)) used = middle;
    else unused = middle;
  }
  const { transactions } = await client.getBlock({ blockNumber: used, includeTransactions: true });
  const found = transactions.find((mined) => mined.nonce === nonce && isSame(mined.from, address));
  if (!found) return null;
  const final = await client.getBlock({ blockTag: 'finalized' });
  return { txHash: found.hash, isFinal: final.number >= used };
}

const isSame = (one: Hex, other: Hex): boolean => one.toLowerCase() === other.toLowerCase();
