import type { PermitView } from '../../chain/permit-view.js';
import { PaymentRefused } from '../payment-refused.js';

/** Permit2 and the scheme's proxy must exist on this chain; refuses `permit2_missing`. */
export function assertPermit2({ isNonceTaken, hasProxy }: Pick<PermitView, 'isNonceTaken' | 'hasProxy'>): void {
  if (isNonceTaken === null || !hasProxy) throw new PaymentRefused('permit2_missing');
}
