import type { Receipt } from '../chain/receipt.js';
import { PaymentRefused } from './payment-refused.js';

/** The receipt's status must be `success` (specification, verification rule 3). */
export function assertSucceeded(receipt: Receipt): void {
  if (receipt.status !== 'success') throw new PaymentRefused('transaction_failed');
}
