import type { PermitView } from '../../chain/permit-view.js';
import { PaymentRefused } from '../payment-refused.js';

/** The payer lets Permit2 move as much of the asset; refuses `permit2_allowance_missing`. */
export function assertAllowance(
  { allowanceBaseUnits }: Pick<PermitView, 'allowanceBaseUnits'>,
  priceBaseUnits: string,
): void {
  if (allowanceBaseUnits === null || allowanceBaseUnits < BigInt(priceBaseUnits)) {
    throw new PaymentRefused('permit2_allowance_missing');
  }
}
