import type { AuthorizationView } from '../../chain/authorization-view.js';
import { PaymentRefused } from '../payment-refused.js';

/** A token must answer at the asset's address; refuses `asset_has_no_code`. Returns the payer's balance. */
export function assertAssetHasCode({ balanceBaseUnits }: Pick<AuthorizationView, 'balanceBaseUnits'>): bigint {
  if (balanceBaseUnits === null) throw new PaymentRefused('asset_has_no_code');
  return balanceBaseUnits;
}
