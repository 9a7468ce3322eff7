/** How a lane is run. Fees are in wei per gas, durations in milliseconds. */
export interface LaneSettings {
  /** The most steps with a nonce that are not mined: as many as the node keeps for one account. */
  maxInFlight: number;
  /** How many jobs are planned, signed and sent at the same time. */
  jobsAtOnce: number;
  /** How many blocks deep a step's block must be, itself included. */
  confirmations: number;
  /** How often the chain's head is read. */
  pollMs: number;
  /**
   * The least time between two reads of the head after a transaction was sent; they are timed for when its block is
   * due. If equal to `pollMs`, there are no extra reads.
   */
  firstLookMs: number;
  /** How often every open job is looked at, whether or not it was woken. */
  reconcileMs: number;
  leaseMs: number;
  /** After this long the same bytes are sent again, because nodes drop transactions from their pools. */
  resendAfterMs: number;
  /** After this long the step that blocks the lane is signed again with higher fees. */
  replaceAfterMs: number;
  /** The upper limit for every attempt. */
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  /** Used where the node suggests no priority fee. */
  defaultPriorityFeePerGas: bigint;
  /**
   * The wallet is empty if it cannot pay for this much gas: its lane pauses. If it can, a job that it cannot pay for
   * fails by itself. Null: every job waits until the wallet can pay for it.
   */
  ordinaryGas: bigint | null;
  /** How often an empty wallet is tried again. */
  emptyWalletMs: number;
  /**
   * After this long the planner is asked again about a job it failed at; the delay doubles each time, up to the
   * longest.
   */
  planRetryMs: number;
  longestPlanRetryMs: number;
  /** A job that is not approved within this time ends; 0: it waits indefinitely. */
  approvalTimeoutMs: number;
  /**
   * For this many blocks, and this long, a used nonce without a receipt may still turn out to be ours, and an unused nonce
   * below those in flight may still be used: a node may be behind.
   */
  nonceDoubtBlocks: number;
  nonceDoubtMs: number;
  /** A job that stands still for this long says why. */
  waitingAfterMs: number;
  /** How long a stopping runner waits for running work. */
  stopWithinMs: number;
  /** What the process calls these settings, for messages. */
  names: Record<'maxInFlight' | 'maxFeePerGas' | 'maxPriorityFeePerGas', string>;
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
  ordinaryGas: null,
  emptyWalletMs: 3000,
  planRetryMs: 500,
  longestPlanRetryMs: 30_000,
  approvalTimeoutMs: 86_400_000,
  nonceDoubtBlocks: 5,
  nonceDoubtMs: 60_000,
  waitingAfterMs: 5_000,
  stopWithinMs: 15_000,
  names: {
    maxInFlight: 'LANE_MAX_IN_FLIGHT',
    maxFeePerGas: 'MAX_FEE_GWEI',
    maxPriorityFeePerGas: 'MAX_PRIORITY_FEE_GWEI',
  },
};
