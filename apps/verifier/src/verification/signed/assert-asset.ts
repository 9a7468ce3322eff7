import type { Hex, Permit2Authorization } from '@tollgate/protocol';

import { PaymentRefused } from '../payment-refused.js';

/** The payer must have signed for the requested token; refuses `asset_mismatch`. */
export function assertAsset({ permitted }: Permit2Authorization, asset: Hex): void {
  if (permitted.token !== asset) throw new PaymentRefused('asset_mismatch');
}
