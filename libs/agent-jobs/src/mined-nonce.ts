import type { LaneId } from '@tollgate/transactions';

/** Asked in the queue `PLAN_QUEUE`, of any worker of the lane's chain. */
export const READ_MINED_NONCE = 'read-mined-nonce.v1';

export type ReadMinedNonceRequest = LaneId;

/** How many of the account's transactions are in the chain's latest block. */
export type ReadMinedNonceReply = { outcome: 'read'; minedNonce: number } | { outcome: 'unavailable'; reason: string };
