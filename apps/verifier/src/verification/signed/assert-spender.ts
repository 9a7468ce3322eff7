import type { SignedPermit } from '@tollgate/protocol';

import { PROXIES } from '../../permits/permit-proxy.js';
import { PaymentRefused } from '../payment-refused.js';

/**
 * The payer must have named the scheme's proxy as spender, since only the proxy enforces the signed recipient; refuses
 * `spender_mismatch`.
 */
export function assertSpender({ scheme, permit2Authorization }: SignedPermit): void {
  if (permit2Authorization.spender !== PROXIES[scheme]) throw new PaymentRefused('spender_mismatch');
}
