import type { SignedPermit } from '@tollgate/protocol';

import { PROXIES } from '../../permits/permit-proxy.js';
import { PaymentRefused } from '../payment-refused.js';

/** The payer let the proxy of the scheme settle it, which pays nobody but whom he signed; refuses `spender_mismatch`. */
export function assertSpender({ scheme, permit2Authorization }: SignedPermit): void {
  if (permit2Authorization.spender !== PROXIES[scheme]) throw new PaymentRefused('spender_mismatch');
}
