import type { Seller } from '../data/format.js';

/** Filled in once the operator API reconciles. */
export function Reconciled(_props: { seller: Seller }) {
  return null;
}
