import { createWallet, type Wallet } from '@tollgate/client';

import { createTransactionUrl } from '../chain/monitor-transaction.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Plan } from '../types/plan.js';
import type { ToolResult } from '../types/tool-result.js';
import type { SentTransaction } from '../types/transaction-events.js';
import type { ExecutionContext } from './executor.js';
import { executePayment } from './pay-for-resource.js';

/** Pays for a resource with the paying client, in the account's own queue. */
export async function runPayment(context: ExecutionContext, plan: Plan): Promise<ToolResult> {
  const { events, explorerUrl, payments } = context;
  const note = (hash: SentTransaction['hash']): SentTransaction => ({
    operation: plan.operation,
    label: plan.summary,
    hash,
    explorerUrl: createTransactionUrl(explorerUrl, hash),
  });
  const outcome = await executePayment(plan, {
    ...payments,
    wallet: createLaneWallet(context),
    onEvent: ({ type, ...event }) => {
      const transaction = 'payment' in event ? event.payment.transaction : null;
      if (!transaction) return;
      if (type === 'signed') events.emit('transactionSubmitted', note(transaction.txHash));
      if (type === 'mined') events.emit('transactionConfirmed', note(transaction.txHash));
    },
  });
  const sent = { result: outcome.txHash, transactions: [note(outcome.txHash)] };
  if (outcome.kind === 'answered') {
    const { status: httpStatus, contentType, body, isBodyCut } = outcome;
    return { ...plan.report, status: 'success', ...sent, answer: { httpStatus, contentType, body, isBodyCut } };
  }
  const { code, message, suggestion, details } = outcome.error;
  events.emit(
    'transactionFailed',
    new AgentKitError(code, message, {
      suggestion,
      details: { ...details, operation: plan.operation, txHash: outcome.txHash },
      cause: outcome.error,
    }),
  );
  return { ...plan.report, status: 'failed', ...sent, error: message, code, suggestion, storeKey: outcome.storeKey };
}

/** The client's wallet, which signs and sends inside the kit's lane, so that no other task takes the nonce. */
function createLaneWallet({ client, account, signer, rpcUrl, chainId, lane }: ExecutionContext): Wallet {
  const wallet = createWallet({ account: signer.account(), rpcUrl, chainId });
  return {
    address: wallet.address,
    chainId: wallet.chainId,
    inTurn: (work) => lane.run(work),
    sign: async (call) => {
      // The wallet uses the node's nonce count; if the node is behind our last transaction, the payment would replace
      // it.
      await lane.readNextNonce(client, account);
      return wallet.sign(call);
    },
    broadcast: async (transaction) => {
      await wallet.broadcast(transaction);
      lane.noteSent(transaction.nonce);
    },
    readOutcome: (txHash) => wallet.readOutcome(txHash),
    isReplaced: (transaction) => wallet.isReplaced(transaction),
  };
}
