import { PaymentError } from '@tollgate/protocol';

import { describeNoAnswer } from './describe-no-answer.js';
import { shortenCause } from './shorten-cause.js';

/** Reads `what` from the chain. @throws PaymentError `wallet_unavailable` when the chain cannot be read */
export async function lookUp<Result>(what: string, ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    throw new PaymentError(
      'wallet_unavailable',
      describeNoAnswer(error) ?? `The ${what} cannot be read from the chain.`,
      {
        hint: 'Check that the RPC server is up and its URL is right.',
        cause: shortenCause(error),
      },
    );
  }
}
