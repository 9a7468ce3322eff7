import { type ChainReader, ReceiptTooLargeError, type Sighting } from '@tollgate/chain';
import { findHashLocks } from '@tollgate/protocol';
import type { LockVerdict, VerifyLockRequest } from '@tollgate/transport';

import type { ClientShares, LookUps } from '../limits/client-shares.js';
import { explainSilence, PaymentRefused } from '../refusals.js';
import type { SellerTerms } from '../seller-terms.js';
import { findPayments, pairHashLocks } from './find-payments.js';

export interface PaidLocksOptions {
  terms: SellerTerms;
  chain: Pick<ChainReader, 'readTransaction'>;
  shares: ClientShares;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
}

/**
 * Finds out for gateways, which have no RPC connection, whether a transaction that a stranger reports has paid under the
 * lock of a ticket. Claims nothing: who has the reference redeems the payment.
 */
export class PaidLocks {
  constructor(private readonly options: PaidLocksOptions) {}

  /** Never throws because of a transaction or the chain. */
  async verify(request: VerifyLockRequest): Promise<LockVerdict> {
    const { terms, shares, nowMs } = this.options;
    if (!terms.include(request)) return { outcome: 'unavailable', reason: 'settings_differ' };
    if (request.deadlineMs <= nowMs()) return { outcome: 'unavailable', reason: 'deadline_passed' };
    const lookUps = shares.begin(request.clientAddress);
    const verdict = await this.#look(request, lookUps);
    lookUps.end(verdict);
    return verdict;
  }

  async #look(request: VerifyLockRequest, lookUps: LookUps): Promise<LockVerdict> {
    try {
      lookUps.assertLeft();
      const { mined } = await this.options.chain.readTransaction(request.txHash, request.deadlineMs, lookUps);
      return { outcome: hasPaid(request, mined) ? 'paid' : 'not_paid' };
    } catch (error) {
      if (error instanceof PaymentRefused || error instanceof ReceiptTooLargeError) return { outcome: 'not_paid' };
      return { outcome: 'unavailable', reason: explainSilence(error).reason };
    }
  }
}

/** @throws PaymentRefused for a transaction without a payment to the recipient */
function hasPaid(request: VerifyLockRequest, mined: Sighting['mined']): boolean {
  if (mined?.receipt.status !== 'success') return false;
  const { received, enough } = findPayments(mined.receipt, {
    ...request,
    leastBaseUnits: BigInt(request.priceBaseUnits),
  });
  const lockOf = pairHashLocks(received, findHashLocks(mined.input));
  return enough.some((payment) => lockOf.get(payment) === request.lock);
}
