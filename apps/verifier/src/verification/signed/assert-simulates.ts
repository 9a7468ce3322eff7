import type { AuthorizationView } from '../../chain/authorization-view.js';
import { PaymentRefused } from '../payment-refused.js';

/** The token must accept the very call that settles the payment; refuses `simulation_failed`. */
export function assertSimulates({ wouldSettle }: Pick<AuthorizationView, 'wouldSettle'>): void {
  if (!wouldSettle) throw new PaymentRefused('simulation_failed');
}
