import type { SpendingPolicy } from '@tollgate/agent-kit';
import type { LaneId, LaneSigner } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';

/** A wallet as seen by the planner: without its key. */
export interface PlannedWallet {
  name: string;
  address: Hex;
  /** `operations` may include `payment` too. */
  policy: SpendingPolicy;
  /**
   * The amount of a token above which an approval is needed: decimal amount by token (`0x0`, address or listed symbol).
   * If there are any amounts, every token that is not listed needs an approval, ERC-721 tokens too. Empty: no approvals
   * are needed.
   */
  approvalAbove: Readonly<Record<string, string>>;
}

/** A wallet that this worker signs for. The key is in the signer's closure, never on an object. */
export interface WorkerWallet extends PlannedWallet {
  lane: LaneId;
  signer: LaneSigner;
}
