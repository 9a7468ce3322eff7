import type { Hex } from '@tollgate/protocol';

import { encodeNumber } from '../libs/chain/src/contracts/abi-encoding.js';

/** The payments of the lane `reconcile`, each computed from its number, the same in the book and on the stand-in's chain. */
const PAYERS = 10_000;

export function paymentAt(number: number): { transaction: Hex; payer: Hex; amount: number } {
  return {
    transaction: `0x${encodeNumber(number)}`,
    payer: `0x${((number % PAYERS) + 1).toString(16).padStart(40, '0')}`,
    amount: 1_000 + (number % 5_000),
  };
}
