import type { PublicClient } from 'viem';

/**
 * The chain's own time, in seconds, for a block that is made now. On a quiet chain the newest block is old, and a deadline
 * or a waiting time measured by it is wrong by as much.
 */
export async function readNextBlockTime(client: PublicClient): Promise<bigint> {
  return (await readNextBlock(client)).time;
}

/** The same, with the number of the block that it would follow. */
export async function readNextBlock(client: PublicClient): Promise<{ time: bigint; parentNumber: bigint }> {
  const [newest, pending] = await Promise.all([
    client.getBlock(),
    // Not every node has a pending block; then its newest is all there is to go by.
    client.getBlock({ blockTag: 'pending' }).catch(() => null),
  ]);
  const soonest = newest.timestamp + 1n;
  const time = pending !== null && pending.timestamp > soonest ? pending.timestamp : soonest;
  return { time, parentNumber: newest.number };
}
