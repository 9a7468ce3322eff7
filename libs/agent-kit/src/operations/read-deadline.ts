import type { PublicClient } from 'viem';

import { readNextBlockTime } from '../plan/read-next-block-time.js';

const PLAN_LIFETIME_SECONDS = 600;
/** For a transaction of the plan's last moment to get into a block. */
const GRACE_SECONDS = 300;

/** Until when a plan whose calls hold a price may be executed, and the deadline that stands in its calls. */
export async function readDeadline(client: PublicClient): Promise<{ deadlineSeconds: bigint; expiresAtMs: number }> {
  // The chain's clock, because the chain compares: a test chain may be days away from ours.
  return {
    deadlineSeconds: (await readNextBlockTime(client)) + BigInt(PLAN_LIFETIME_SECONDS + GRACE_SECONDS),
    expiresAtMs: Date.now() + PLAN_LIFETIME_SECONDS * 1_000,
  };
}
