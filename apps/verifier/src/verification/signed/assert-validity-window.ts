import type { TransferAuthorization } from '@tollgate/protocol';

import { PaymentRefused } from '../payment-refused.js';

/**
 * The authorization must be valid now and for `leftMs` more; refuses `authorization_not_yet_valid` and
 * `authorization_expired`. A negative `leftMs` accepts it for that long after its expiry.
 */
export function assertValidityWindow(
  { validAfter, validBefore }: Pick<TransferAuthorization, 'validAfter' | 'validBefore'>,
  nowMs: number,
  leftMs: number,
): void {
  const now = BigInt(Math.floor(nowMs));
  if (BigInt(validAfter) * 1000n > now) throw new PaymentRefused('authorization_not_yet_valid');
  if (BigInt(validBefore) * 1000n < now + BigInt(leftMs)) throw new PaymentRefused('authorization_expired');
}
