import { address, baseUnits, hash32, natural } from '@tollgate/schemas';
import { z } from 'zod';

import { unavailable } from './claims.js';
import { asked } from './question.js';

/**
 * A gateway asks any verifier whether a transaction has paid a price under a lock, of which the asker knows no more than
 * that.
 */
export const VERIFY_LOCK = 'verify-lock.v1';

export const verifyLockRequest = z.object({
  ...asked,
  chainId: natural,
  asset: address,
  payTo: address,
  priceBaseUnits: baseUnits,
  txHash: hash32,
  /** keccak256 of the reference. */
  lock: hash32,
});
export type VerifyLockRequest = z.output<typeof verifyLockRequest>;

export const lockVerdict = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('paid') }),
  /** Also while it is not mined. */
  z.object({ outcome: z.literal('not_paid') }),
  unavailable,
]);
export type LockVerdict = z.output<typeof lockVerdict>;
