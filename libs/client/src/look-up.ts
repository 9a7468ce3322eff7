import { PaymentError } from '@tollgate/protocol';

import { describeNoAnswer } from './describe-no-answer.js';
import { shortenCause } from './shorten-cause.js';

/** Asks the chain about `what`. @throws PaymentError `wallet_unavailable` where it cannot be asked */
export async function lookUp<Result>(what: string, ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    throw new PaymentError('wallet_unavailable', describeNoAnswer(error) ?? `The ${what} cannot be looked up.`, {
      hint: 'Is the RPC server up, and its URL right?',
      cause: shortenCause(error),
    });
  }
}
