import { PlanFailure, type JobRecord } from '@tollgate/journal';
import { isRefundsWallet } from '@tollgate/refunds';

/** A wallet of refunds sends nothing else, and no other wallet sends a refund. @throws PlanFailure */
export function assertWalletOf(operation: string, wallet: string): void {
  if ((operation === 'refund') === isRefundsWallet(wallet)) return;
  throw new PlanFailure({
    code: 'POLICY_VIOLATION',
    message: 'The wallet refunds sends refunds and nothing else, and no other wallet sends them.',
    suggestion: 'Use another wallet; refunds are asked for with tollgate refund.',
  });
}

/**
 * An API key may use names, and a name has a policy: a job is not begun under the policy of another name of its account.
 * One that has a nonce is carried out, since it was begun under its own. `name`: of the account, at this worker.
 * @throws PlanFailure
 */
export function assertNamed({ wallet, steps }: Pick<JobRecord, 'wallet' | 'steps'>, name: string): void {
  if (wallet === name || steps.some(({ nonce }) => nonce !== null)) return;
  // The present name is not disclosed: the key of the job may not use it.
  throw new PlanFailure({
    code: 'POLICY_VIOLATION',
    message: `The agent workers have the account of the wallet ${wallet} under another name, which has a policy of its own.`,
    suggestion: `Use the wallet's present name, with an API key that may. Operators: tollgate wallets remove ${wallet}`,
  });
}
