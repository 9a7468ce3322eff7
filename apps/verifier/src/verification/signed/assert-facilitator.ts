import type { Hex, SignedPermit } from '@tollgate/protocol';

import { PaymentRefused } from '../payment-refused.js';

/**
 * Under scheme `upto` the payer names the one account that can send the permit. Refuses `facilitator_mismatch` when it
 * is none of the relayers here, which could never settle it.
 */
export async function assertFacilitator(
  payment: SignedPermit,
  readRelayers: () => Promise<ReadonlySet<Hex>>,
): Promise<void> {
  if (payment.scheme !== 'upto') return;
  const relayers = await readRelayers();
  if (!relayers.has(payment.permit2Authorization.witness.facilitator)) throw new PaymentRefused('facilitator_mismatch');
}
