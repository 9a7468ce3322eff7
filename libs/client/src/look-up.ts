import { PaymentError } from '@tollgate/protocol';

/** Asks the chain about `what`. @throws PaymentError `wallet_unavailable` where it cannot be asked */
export async function lookUp<Result>(what: string, ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (cause) {
    throw new PaymentError('wallet_unavailable', `The ${what} cannot be looked up.`, {
      hint: 'Is the RPC endpoint up?',
      cause,
    });
  }
}
