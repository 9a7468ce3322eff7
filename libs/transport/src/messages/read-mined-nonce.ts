import { address, hash32, natural } from '@tollgate/schemas';
import { z } from 'zod';

import { unavailable } from './claims.js';

/** A gateway asks any worker of an account's chain what is mined of it. */
export const READ_MINED_NONCE = 'read-mined-nonce.v1';

export const readMinedNonceRequest = z.object({
  chainId: natural,
  /** The account of a lane. */
  address,
  /** Hashes of transactions, at most one of which is mined. */
  attempts: z.array(hash32),
});
export type ReadMinedNonceRequest = z.output<typeof readMinedNonceRequest>;

export const readMinedNonceReply = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('read'),
    /** The number of the account's transactions up to the chain's latest block. */
    minedNonce: natural,
    /** Whether an attempt has a receipt. */
    isAttemptMined: z.boolean(),
  }),
  unavailable,
]);
export type ReadMinedNonceReply = z.output<typeof readMinedNonceReply>;
