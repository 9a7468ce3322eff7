import { PaymentError } from '@tollgate/protocol';

import { takeRequest } from '../network/request-snapshot.js';
import { createContext, type PaymentOptions } from '../sign/payment-options.js';
import type { Wallet } from '../sign/wallet.js';
import { runProcedure } from './fetch-with-payment.js';

/**
 * The client procedure of the specification, for a resource that requires a payment.
 * @throws PaymentError `expected_402` (`Expected 402 Payment Required, got <status>`) when it is free or missing, and
 * any error of `fetchWithPayment`.
 */
export async function payForResource(
  url: string | URL,
  wallet: Wallet,
  options: PaymentOptions & { fetch?: typeof globalThis.fetch; init?: RequestInit },
): Promise<Response> {
  const { fetch = globalThis.fetch, init, ...paymentOptions } = options;
  const context = createContext(fetch, wallet, paymentOptions);
  return runProcedure(context, await takeRequest(url, init), ({ status, body }) => {
    body?.cancel().catch(() => undefined);
    throw new PaymentError('expected_402', `Expected 402 Payment Required, got ${status}`, { details: { status } });
  });
}
