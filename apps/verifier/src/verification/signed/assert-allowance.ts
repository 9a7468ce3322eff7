import type { PermitView } from '../../chain/permit-view.js';
import { PaymentRefused } from '../payment-refused.js';

/** Permit2's allowance from the payer must cover the price; refuses `permit2_allowance_missing`. */
export function assertAllowance(
  { allowanceBaseUnits }: Pick<PermitView, 'allowanceBaseUnits'>,
  priceBaseUnits: string,
): void {
  if (allowanceBaseUnits === null || allowanceBaseUnits < BigInt(priceBaseUnits)) {
    throw new PaymentRefused('permit2_allowance_missing');
  }
}
