import type { PublicClient } from 'viem';

import { readNextBlockTime } from '../../plan/read-next-block-time.js';

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
