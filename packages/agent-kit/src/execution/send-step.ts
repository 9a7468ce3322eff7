import { BaseError, keccak256, type Hex, type TransactionSerializable } from 'viem';

import { explainFailure, isNoAnswer } from '../chain/explain-failure.js';
import { readFees, readPrice } from '../chain/fees.js';
import { retryNetwork } from '../chain/retry-network.js';
import { addGasMargin } from '../plan/limit-gas.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Step } from '../types/plan.js';
import type { ExecutionContext } from './execution-context.js';

export interface SignedStep {
  hash: Hex;
  rawTransaction: Hex;
  nonce: number;
}

/**
 * Signs a step with a nonce, gas and fees; sends nothing. The gas estimate is the last simulation, on the state after
 * the earlier steps. Call only inside the account's lane.
 * @throws AgentKitError when the step would fail, or the account cannot pay for it.
 */
export async function signStep(context: ExecutionContext, step: Step): Promise<SignedStep> {
  const { client, account, chainId, lane, signer } = context;
  const prepare = async () => {
    const call = { to: step.to, data: step.data, value: step.value };
    const [gas, fees, balance, nonce] = await Promise.all([
      client.estimateGas({ account, ...call }).catch((error: unknown) => {
        throw explainFailure(error, step.failures);
      }),
      readFees(context),
      client.getBalance({ address: account }),
      lane.readNextNonce(client, account),
    ]);
    const limit = addGasMargin(gas);
    if (balance < step.value + limit * readPrice(fees)) {
      throw new AgentKitError(
        'INSUFFICIENT_FUNDS',
        `There are insufficient funds of the native token for the gas of: ${step.label}.`,
      );
    }
    return { nonce, transaction: { ...call, ...fees, gas: limit, nonce, chainId } as TransactionSerializable };
  };
  const { nonce, transaction } = await retryNetwork(prepare, context.networkRetryDelayMs);
  const rawTransaction = await signer.signTransaction(transaction);
  return { hash: keccak256(rawTransaction), rawTransaction, nonce };
}

/**
 * Sends the signed bytes. If no reply arrives, the same bytes are sent again, never new ones.
 * @throws AgentKitError only when the node refused them and does not have them: then nothing was sent.
 */
export async function broadcastStep(context: ExecutionContext, step: SignedStep): Promise<void> {
  const { client, lane } = context;
  try {
    await client.sendRawTransaction({ serializedTransaction: step.rawTransaction });
  } catch (error) {
    // When in doubt it counts as sent. If the node's message is unknown, reading the transaction decides.
    if (isNoAnswer(error) || isKnownAlready(error)) return lane.noteSent(step.nonce);
    if (await isUnknown(context, step.hash)) throw explainFailure(error);
  }
  lane.noteSent(step.nonce);
}

function isKnownAlready(error: unknown): boolean {
  const details = error instanceof BaseError ? error.details : '';
  return /already ?(known|imported|exists|in )|known transaction/i.test(details);
}

async function isUnknown({ client }: ExecutionContext, hash: Hex): Promise<boolean> {
  const [transaction, receipt] = await Promise.allSettled([
    client.getTransaction({ hash }),
    client.getTransactionReceipt({ hash }),
  ]);
  const isMissing = (result: PromiseSettledResult<unknown>) =>
    result.status === 'rejected' && !isNoAnswer(result.reason);
  return isMissing(transaction) && isMissing(receipt);
}
