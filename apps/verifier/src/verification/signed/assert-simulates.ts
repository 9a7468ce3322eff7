import type { AuthorizationView } from '../../chain/authorization-view.js';
import { PaymentRefused } from '../payment-refused.js';

/** The token would take the very call that settles it; refuses `simulation_failed`. */
export function assertSimulates({ wouldSettle }: Pick<AuthorizationView, 'wouldSettle'>): void {
  if (!wouldSettle) throw new PaymentRefused('simulation_failed');
}
