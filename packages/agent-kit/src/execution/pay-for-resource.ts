import { payForResource, type PaymentEvent, type PaymentStore, type Wallet } from '@tollgate/client';
import { formatTokenAmount } from '@tollgate/protocol';
import type { Hex } from 'viem';

import { explainChangedTerms, explainUnanswered } from '../payments/explain-payment-error.js';
import { PRICE_TIMEOUT_MS } from '../payments/payment-limits.js';
import { readAnswer, type PaidAnswer } from '../payments/read-answer.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Plan } from '../types/plan.js';
import { quoteUntrusted } from '../types/untrusted-text.js';

/** How payments at servers that answer 402 are made and stored. */
export interface PaymentSettings {
  /** Where payments are stored until they are redeemed; `MemoryPaymentStore` survives no crash. */
  store: PaymentStore;
  fetch: typeof globalThis.fetch;
  allowInsecureHttp?: boolean;
  /** Time limit for reading a price; default 10,000. */
  priceTimeoutMs?: number;
  /** From the signature to the answer; 60 s. */
  deadlineMs?: number;
  /** One attempt to fetch and read the paid answer; 30 s. */
  attemptTimeoutMs?: number;
}

interface Sent {
  txHash: Hex;
  /** The key of the payment in the store. */
  storeKey: string;
}

/** The outcome of a payment. `unanswered`: money may have moved; the stored payment can still be redeemed. */
export type PaymentOutcome =
  | ({ kind: 'answered' } & Sent & PaidAnswer)
  | ({ kind: 'unanswered'; error: AgentKitError } & Sent);

/**
 * Pays exactly the amount and recipient of the plan, and fetches the answer. An open payment for the same URL is
 * redeemed instead, and nothing is paid.
 * @throws AgentKitError when nothing was signed; `PLAN_EXPIRED` when the server now asks for more, or for another
 * recipient.
 */
export async function executePayment(
  { payment: terms }: Pick<Plan, 'payment'>,
  options: PaymentSettings & { wallet: Wallet; onEvent?: (event: PaymentEvent) => void },
): Promise<PaymentOutcome> {
  if (!terms) throw new AgentKitError('INVALID_INPUT', 'The plan has no payment.');
  const { wallet, onEvent, priceTimeoutMs = PRICE_TIMEOUT_MS, ...settings } = options;
  const { url, network, payTo, amount } = terms;
  const { address, decimals } = amount.token;
  let sent: Sent | undefined;
  let response: Response;
  try {
    response = await payForResource(url, wallet, {
      ...settings,
      fetch: limitPriceRequests(settings.fetch, priceTimeoutMs),
      assets: [{ network, chainId: wallet.chainId, address, decimals, payTo }],
      maxAmount: formatTokenAmount(amount.amountBaseUnits, decimals),
      // A redirect target was not part of the confirmed plan.
      init: { redirect: 'manual' },
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
  if (answer.status < 400) return { kind: 'answered', ...sent, ...answer };
  return {
    kind: 'unanswered',
    ...sent,
    error: explainUnanswered(describeFailure(answer)),
  };
}

function readSent(event: PaymentEvent): Sent | undefined {
  const transaction = 'payment' in event ? event.payment.transaction : null;
  return transaction ? { txHash: transaction.txHash, storeKey: event.key } : undefined;
}

function describeFailure({ status, body }: PaidAnswer): Error {
  return new Error(`the answer has status ${status}${body ? `: ${quoteUntrusted(body)}` : ''}.`);
}

/** The paying client limits the time of its paid requests, but not of reading the price. */
function limitPriceRequests(fetch: typeof globalThis.fetch, timeoutMs: number): typeof globalThis.fetch {
  return (input, init) => fetch(input, { ...init, signal: init?.signal ?? AbortSignal.timeout(timeoutMs) });
}
