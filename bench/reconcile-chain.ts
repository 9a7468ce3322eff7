/** The payments of the lane `reconcile`, each computed from its number, the same in the book and on the stand-in's chain. */
const PAYERS = 10_000;

export interface NumberedPayment {
  transaction: string;
  payer: string;
  amount: number;
}

export function paymentAt(number: number): NumberedPayment {
  return {
    transaction: `0x${number.toString(16).padStart(64, '0')}`,
    payer: `0x${((number % PAYERS) + 1).toString(16).padStart(40, '0')}`,
    amount: 1_000 + (number % 5_000),
  };
}

/** An address as the topic of a log. */
export const encodeAddress = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`;
