import type { PublicClient } from 'viem';

/**
 * The chain's time, in seconds, of a block made now. On an idle chain the newest block is old, and a deadline or a
 * waiting time based on it would be wrong by that much.
 */
export async function readNextBlockTime(client: PublicClient): Promise<bigint> {
  return (await readNextBlock(client)).time;
}

/** The chain's time of a block made now, with the number of the block before it. */
export async function readNextBlock(client: PublicClient): Promise<{ time: bigint; parentNumber: bigint }> {
  const [newest, pending] = await Promise.all([
    client.getBlock(),
    // Not every node has a pending block; then its newest block is used.
    client.getBlock({ blockTag: 'pending' }).catch(() => null),
  ]);
  const soonest = newest.timestamp + 1n;
  const time = pending !== null && pending.timestamp > soonest ? pending.timestamp : soonest;
  return { time, parentNumber: newest.number };
}

const PLAN_LIFETIME_SECONDS = 600;
/** Time for a transaction sent at the plan's last moment to get into a block. */
const GRACE_SECONDS = 300;

/** Until when a plan with a price in its calls may be executed, and the deadline in those calls. */
export async function readDeadline(client: PublicClient): Promise<{ deadlineSeconds: bigint; expiresAtMs: number }> {
  // The chain's clock, because the chain checks the deadline: a test chain may be days away from our clock.
  return {
    deadlineSeconds: (await readNextBlockTime(client)) + BigInt(PLAN_LIFETIME_SECONDS + GRACE_SECONDS),
    expiresAtMs: Date.now() + PLAN_LIFETIME_SECONDS * 1_000,
  };
}
