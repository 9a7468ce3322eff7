import type { LaneId } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';

/** Sent to the queue `PLAN_QUEUE`; any worker of the lane's chain may answer. */
export const READ_MINED_NONCE = 'read-mined-nonce.v1';

/** `attempts`: transaction hashes; at most one of them is mined. */
export type ReadMinedNonceRequest = LaneId & { attempts?: readonly Hex[] };

/** The number of the account's transactions up to the chain's latest block, and whether an attempt has a receipt. */
export type ReadMinedNonceReply =
  { outcome: 'read'; minedNonce: number; isAttemptMined: boolean } | { outcome: 'unavailable'; reason: string };
