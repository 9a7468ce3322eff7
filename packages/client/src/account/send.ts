import { PaymentError } from '@tollgate/protocol';

import type { SignedTransaction } from './signed-transaction.js';
import type { Wallet } from './wallet.js';

/** The base fee may rise between reading it and sending, and again. */
const MOST_QUOTES = 4;

interface Sender<Call, Signed> extends Pick<Wallet, 'broadcast'> {
  sign(call: Call): Promise<Signed>;
}

/**
 * Signs and sends a call; call it in turn. If the base fee has risen above the fees, it is signed anew at once: the node
 * refused the first bytes, and both have the same nonce.
 * @param keep stores the bytes before they are sent; false: they are not to be sent
 * @returns null if they were not to be sent
 */
export function signAndSend<Call, Signed extends SignedTransaction>(
  wallet: Sender<Call, Signed>,
  call: Call,
): Promise<Signed>;
export function signAndSend<Call, Signed extends SignedTransaction>(
  wallet: Sender<Call, Signed>,
  call: Call,
  keep: (signed: Signed) => Promise<boolean>,
): Promise<Signed | null>;
export async function signAndSend<Call, Signed extends SignedTransaction>(
  wallet: Sender<Call, Signed>,
  call: Call,
  keep: (signed: Signed) => Promise<boolean> = async () => true,
): Promise<Signed | null> {
  for (let quote = 1; ; quote += 1) {
    const signed = await wallet.sign(call);
    if (!(await keep(signed))) return null;
    try {
      await wallet.broadcast(signed);
      return signed;
    } catch (error) {
      if (quote === MOST_QUOTES || !isFeeBelowBase(error)) throw error;
    }
  }
}

function isFeeBelowBase(error: unknown): boolean {
  return error instanceof PaymentError && error.details['refusal'] === 'fee_below_base';
}
