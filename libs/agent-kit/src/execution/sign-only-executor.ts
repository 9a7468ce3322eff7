import { keccak256, type Hex, type TransactionSerializable } from 'viem';

import { AgentKitError } from '../agent-kit-error.js';
import { simulatePlan } from '../plan/simulate-plan.js';
import type { ExecutionContext, Executor } from './executor.js';
import { retryNetwork } from './retry-network.js';
import { readFees } from './send-step.js';

// A step after an approval cannot be estimated before the approval is mined.
const GAS_LIMIT_OF_LATER_STEPS = 1_500_000n;

/**
 * Signs every step with consecutive nonces and sends nothing: somebody else broadcasts the bytes, in order. The nonces are
 * those of now, so the bytes are worthless once the account sends something else.
 */
export function createSignOnlyExecutor(context: ExecutionContext): Executor {
  return {
    execute: (plan) =>
      context.lane.run(async () => {
        const { client, account, chainId, signer, lane } = context;
        if (plan.payment) {
          throw new AgentKitError('READ_ONLY', 'A payment is made and redeemed in one go; sign-only kits cannot pay.');
        }
        const prepare = async () => {
          await simulatePlan(client, account, plan.steps);
          return Promise.all([readFees(context), lane.readNextNonce(client, account)]);
        };
        const [fees, nonce] = await retryNetwork(prepare, context.networkRetryDelayMs);
        const signedTransactions: Hex[] = [];
        for (const [index, { to, data, value }] of plan.steps.entries()) {
          const gas =
            index === 0
              ? ((await client.estimateGas({ account, to, data, value })) * 5n) / 4n
              : GAS_LIMIT_OF_LATER_STEPS;
          const transaction = {
            to,
            data,
            value,
            ...fees,
            gas,
            nonce: nonce + index,
            chainId,
          } as TransactionSerializable;
          signedTransactions.push(await signer.sign(transaction));
        }
        const main = signedTransactions.at(-1);
        return {
          status: 'signed',
          ...(main ? { result: keccak256(main) } : {}),
          ...plan.report,
          transactions: [],
          signedTransactions,
        };
      }),
  };
}
