/** How a lane works. Fees are wei per gas, times milliseconds. */
export interface LaneSettings {
  /** Steps with a nonce that are not mined: what the node keeps of one account. */
  maxInFlight: number;
  /** Jobs that are planned, signed and sent at once. */
  jobsAtOnce: number;
  /** Blocks that a step's block must have, itself included. */
  confirmations: number;
  /** How often the chain's head is looked at. */
  pollMs: number;
  /**
   * The least time between two looks after something was sent, which are then made about when its block is due. As long
   * as `pollMs`: none are made out of turn.
   */
  firstLookMs: number;
  /** Every open job is looked at so often, whatever woke it or not. */
  reconcileMs: number;
  leaseMs: number;
  /** After this long the same bytes are sent again: pools forget. */
  resendAfterMs: number;
  /** After this long what stops the lane is signed again with higher fees. */
  replaceAfterMs: number;
  /** No attempt offers more. */
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  /** Used where the node suggests no tip. */
  defaultPriorityFeePerGas: bigint;
  /** For a transfer of nothing to the wallet itself. */
  cancelGas: bigint;
  /** How often an empty wallet is tried again. */
  emptyWalletMs: number;
  /** After so long the planner is asked again about a job it failed at; then twice as long each time, up to the longest. */
  planRetryMs: number;
  longestPlanRetryMs: number;
  /** A job that nobody agrees to for so long ends; 0: it waits for ever. */
  approvalTimeoutMs: number;
  /** For so many blocks, and for so long, a used nonce may still turn out to be ours. */
  strangerBlocks: number;
  strangerMs: number;
  /** How long a stopping runner waits for what it has begun. */
  stopWithinMs: number;
}

const GWEI = 1_000_000_000n;

export const DEFAULT_LANE_SETTINGS: LaneSettings = {
  maxInFlight: 64,
  jobsAtOnce: 64,
  confirmations: 1,
  pollMs: 500,
  firstLookMs: 500,
  reconcileMs: 10_000,
  leaseMs: 10_000,
  resendAfterMs: 10_000,
  replaceAfterMs: 30_000,
  maxFeePerGas: 500n * GWEI,
  maxPriorityFeePerGas: 50n * GWEI,
  defaultPriorityFeePerGas: GWEI,
  cancelGas: 21_000n,
  emptyWalletMs: 3000,
  planRetryMs: 500,
  longestPlanRetryMs: 30_000,
  approvalTimeoutMs: 86_400_000,
  strangerBlocks: 5,
  strangerMs: 60_000,
  stopWithinMs: 15_000,
};
