import { PaymentRefused } from './payment-refused.js';

/** Checks the number of confirmations, the payment's own block included. */
export function assertConfirmed(blockNumber: number, headBlockNumber: number, confirmations: number): void {
  if (!isConfirmed(blockNumber, headBlockNumber, confirmations)) throw new PaymentRefused('not_confirmed');
}

export function isConfirmed(blockNumber: number, headBlockNumber: number, confirmations: number): boolean {
  return headBlockNumber - blockNumber + 1 >= confirmations;
}
