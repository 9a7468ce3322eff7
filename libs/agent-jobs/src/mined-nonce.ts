import type { Hex } from '@tollgate/protocol';
import type { LaneId } from '@tollgate/transactions';

/** Asked in the queue `PLAN_QUEUE`, of any worker of the lane's chain. */
export const READ_MINED_NONCE = 'read-mined-nonce.v1';

/** `attempts`: hashes of transactions; at most one of them is mined. */
export type ReadMinedNonceRequest = LaneId & { attempts?: readonly Hex[] };

/** How many of the account's transactions are in the chain's latest block, and whether it has a receipt of an attempt. */
export type ReadMinedNonceReply =
  { outcome: 'read'; minedNonce: number; isAttemptMined: boolean } | { outcome: 'unavailable'; reason: string };
