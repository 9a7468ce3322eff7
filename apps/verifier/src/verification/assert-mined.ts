import type { MinedTransaction, Sighting } from '../chain/chain-reader.js';
import { PaymentRefused } from './payment-refused.js';

/** The transaction must have a receipt (specification, verification rule 3). */
export function assertMined({ mined }: Sighting): MinedTransaction {
  if (mined === null) throw new PaymentRefused('receipt_missing');
  return mined;
}
