import type { PaymentPicture } from '../../../../libs/book/src/reading/read-payment.js';
import type { Seller } from '../data/format.js';

/** Filled in once the operator API has refunds. */
export function Refund(_props: { payment: PaymentPicture; seller: Seller }) {
  return null;
}
