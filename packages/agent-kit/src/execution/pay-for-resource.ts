import { payForResource, type PaymentEvent, type Wallet } from '@tollgate/client';
import { formatTokenAmount, nonceOf } from '@tollgate/protocol';
import type { Hex } from 'viem';

import { createExplorerUrl } from '../chain/monitor-transaction.js';
import { explainChangedTerms, explainUnanswered } from '../payments/explain-payment-error.js';
import { PRICE_TIMEOUT_MS } from '../payments/payment-limits.js';
import { createInit } from '../payments/priced-request.js';
import { quoteServerReason, readAnswer, type PaidAnswer } from '../payments/read-answer.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Plan } from '../types/plan.js';
import type { ToolResult } from '../types/tool-result.js';
import type { SentTransaction } from '../types/transaction-events.js';
import type { ExecutionContext } from './execution-context.js';
import { readSettledAmount, readNamedSettlement } from './read-settlement.js';

interface Sent {
  /** Null for a signature: the server moves the money. */
  txHash: Hex | null;
  /** The nonce of the signature. */
  authorization?: string;
  /** The key of the payment in the store. */
  storeKey: string;
}

/** The outcome of a payment. `unanswered`: money may have moved; the stored payment can still be redeemed. */
type PaymentOutcome = Answered | ({ kind: 'unanswered'; error: AgentKitError } & Sent);

interface Answered extends Sent, PaidAnswer {
  kind: 'answered';
  /** The transaction that settled a signature, as the server says. */
  namedSettlement: Hex | null;
}

/**
 * Pays at most the amount of the plan, to its recipient, in its way, and fetches the answer. An open payment for the same
 * request is redeemed instead, and nothing is paid.
 * @throws AgentKitError when nothing was signed; `PLAN_EXPIRED` when the server now asks for more, for another recipient,
 * or to be paid in another way.
 */
export async function executePayment(
  { payment: terms }: Pick<Plan, 'payment'>,
  options: ExecutionContext['payments'] & {
    wallet: Wallet;
    otherWallets?: readonly Wallet[];
    onEvent?: (event: PaymentEvent) => void;
  },
): Promise<PaymentOutcome> {
  if (!terms) throw new AgentKitError('INVALID_INPUT', 'The plan has no payment.');
  const { wallet, otherWallets = [], onEvent, priceTimeoutMs = PRICE_TIMEOUT_MS, headers, ...settings } = options;
  const { url, chainId, network, payTo, amount, way } = terms;
  const { address, decimals } = amount.token;
  let sent: Sent | undefined;
  let response: Response;
  try {
    response = await payForResource(url, [wallet, ...otherWallets], {
      ...settings,
      fetch: limitPriceRequests(settings.fetch, priceTimeoutMs),
      assets: [{ network, chainId, address, decimals, payTo }],
      maxAmount: formatTokenAmount(amount.amountBaseUnits, decimals),
      way,
      // A redirect target was not part of the confirmed plan.
      init: createInit(terms, headers),
      onEvent: (event) => {
        sent = readSent(event) ?? sent;
        onEvent?.(event);
      },
    });
  } catch (error) {
    if (!sent) throw explainChangedTerms(error, url);
    return { kind: 'unanswered', ...sent, error: explainUnanswered(error) };
  }
  const answer = await readAnswer(response, settings.attemptTimeoutMs ?? 30_000);
  if (!sent) throw new AgentKitError('PAYMENT_FAILED', 'The paying client returned an answer without a payment.');
  const namedSettlement = readNamedSettlement(response.headers);
  if (answer.status < 400) return { kind: 'answered', namedSettlement, ...sent, ...answer };
  const reason = `the answer has status ${answer.status}${quoteServerReason(answer.body)}.`;
  return { kind: 'unanswered', ...sent, error: explainUnanswered(new Error(reason)) };
}

function readSent(event: PaymentEvent): Sent | undefined {
  if (!('payment' in event)) return undefined;
  const { transaction, authorization } = event.payment;
  if (transaction) return { txHash: transaction.txHash, storeKey: event.key };
  return authorization ? { txHash: null, authorization: nonceOf(authorization), storeKey: event.key } : undefined;
}

/** The paying client limits the time of its paid requests, but not of reading the price. */
function limitPriceRequests(fetch: typeof globalThis.fetch, timeoutMs: number): typeof globalThis.fetch {
  return (input, init) => fetch(input, { ...init, signal: init?.signal ?? AbortSignal.timeout(timeoutMs) });
}

/** Pays for a resource with the paying client, in the account's own queue. */
export async function runPayment(context: ExecutionContext, plan: Plan): Promise<ToolResult> {
  const { events, explorerUrl, payments, sender, otherWallets } = context;
  const note = (hash: SentTransaction['hash']): SentTransaction => ({
    operation: plan.operation,
    label: plan.summary,
    hash,
    explorerUrl: createExplorerUrl(explorerUrl, `tx/${hash}`),
  });
  // Signed here, and not yet known to the chain.
  let signed: Hex | null = null;
  const outcome = await executePayment(plan, {
    ...payments,
    wallet: sender,
    otherWallets,
    onEvent: ({ type, ...event }) => {
      const transaction = 'payment' in event ? event.payment.transaction : null;
      if (!transaction) return;
      if (type === 'signed') signed = transaction.txHash;
      if ((type === 'sent' || type === 'mined') && signed === transaction.txHash) {
        signed = null;
        events.emit('transactionSubmitted', note(transaction.txHash));
      }
      if (type === 'mined') events.emit('transactionConfirmed', note(transaction.txHash));
    },
  });
  const { txHash, authorization } = outcome;
  const sent = {
    ...(txHash && { result: txHash }),
    ...(authorization !== undefined && { authorization }),
    transactions: txHash ? [note(txHash)] : [],
  };
  if (outcome.kind === 'answered') {
    const { status: httpStatus, contentType, body, isBodyCut } = outcome;
    const answer = { httpStatus, contentType, body, isBodyCut };
    const settled = await readSettled(context, plan, outcome);
    return { ...plan.report, status: 'success', ...sent, ...settled, answer };
  }
  const { code, message, suggestion, details } = outcome.error;
  events.emit(
    'transactionFailed',
    new AgentKitError(code, message, {
      suggestion,
      details: { ...details, operation: plan.operation, ...(txHash ? { txHash } : { authorization }) },
      cause: outcome.error,
    }),
  );
  return { ...plan.report, status: 'failed', ...sent, error: message, code, suggestion, storeKey: outcome.storeKey };
}

/** The transaction that settled the signature, and what it charged: nothing that the chain does not show. */
async function readSettled(
  { client, account: payer }: ExecutionContext,
  { payment }: Plan,
  { namedSettlement: result, authorization: nonce }: Pick<Answered, 'namedSettlement' | 'authorization'>,
): Promise<{ result?: Hex; charged?: string }> {
  if (!payment || !result || nonce === undefined) return {};
  const charge = await readSettledAmount(client, result, { ...payment, payer, nonce });
  return charge === null ? {} : { result, charged: formatTokenAmount(charge, payment.amount.token.decimals) };
}
