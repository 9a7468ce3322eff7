import type { SettlementResult } from '@tollgate/common';
import type { Lease, Ledger, StoredAnswer } from '@tollgate/ledger';
import type { ClaimedPurchase, ReleaseTerms, Settled } from '@tollgate/middleware/purchase';
import type { SettleResponse } from '@tollgate/protocol';

import type { SignedPaymentQuestion, SignedPayments } from '../signed-payments/signed-payments.js';
import type { FacilitatorRequest } from './parse-facilitator-request.js';
import { isMetered } from './settle-response.js';

/** The product is the report of a settlement. */
type Purchase = ClaimedPurchase<SettleResponse, SettlementResult>;

export interface Claim {
  readonly lease: Lease;
  readonly payer: `0x${string}`;
  readonly txHash: `0x${string}` | null;
  /** The settled amount, where it may be less than the requested one. */
  readonly amountBaseUnits?: string;
}

export interface SettlementParts {
  readonly ledger: Ledger;
  readonly payments: SignedPayments;
  readonly leaseMs: number;
}

export interface ClaimedRequest {
  readonly request: FacilitatorRequest;
  readonly question: SignedPaymentQuestion;
  readonly claim: Claim;
}

/** A payment that is claimed for a server's request to settle it. */
export class ClaimedSettlement implements Purchase {
  readonly settles = 'before';
  readonly mayBeSettled = false;
  readonly leaseMs: number;
  readonly recordsSettlement: boolean;
  readonly settled: SettlementResult | null;

  constructor(
    private readonly parts: SettlementParts,
    private readonly asked: ClaimedRequest,
  ) {
    const { txHash, payer, amountBaseUnits = this.#amount } = asked.claim;
    this.leaseMs = parts.leaseMs;
    this.recordsSettlement = isMetered(asked.question.payment);
    this.settled = txHash === null ? null : this.#check({ outcome: 'settled', txHash, payer, amountBaseUnits });
  }

  renew(): Promise<boolean> {
    return this.parts.ledger.renew(this.asked.claim.lease, this.leaseMs);
  }

  amountOf(): bigint {
    return BigInt(this.#amount);
  }

  recordSettlement(amountBaseUnits: bigint): Promise<bigint | null> {
    return this.parts.ledger.fixAmount(this.asked.claim.lease, amountBaseUnits);
  }

  async settle(amountBaseUnits: bigint): Promise<SettlementResult> {
    // Until the settlement of another amount is resolved, here or at the paywall, this one cannot be settled.
    if (amountBaseUnits !== this.amountOf()) return { outcome: 'unavailable', reason: 'amount_not_fixed' };
    return this.#check(await this.parts.payments.settle(this.asked.question, this.#amount));
  }

  produce({ payer, txHash, amountBaseUnits }: Settled<SettlementResult>): Promise<SettleResponse> {
    const { network } = this.asked.request.requirement;
    return Promise.resolve({ success: true, payer, transaction: txHash, network, amount: amountBaseUnits });
  }

  isCharged(): boolean {
    return true;
  }

  /** Without the commit, a second request would get the same success. */
  commit(response: SettleResponse): Promise<boolean> {
    return this.parts.ledger.commit(this.asked.claim.lease, toStored(response)).catch(() => false);
  }

  /** If the ledger is unavailable, the lease expires. */
  release(terms: ReleaseTerms): Promise<boolean> {
    return this.parts.ledger.release(this.asked.claim.lease, terms).then(
      () => true,
      () => true,
    );
  }

  reportFailure(): 'store' {
    return 'store';
  }

  get #amount(): string {
    return this.asked.question.terms.priceBaseUnits;
  }

  /** The success of another amount belongs to the request for that amount; this server asked for another one. */
  #check(result: SettlementResult): SettlementResult {
    if (result.outcome !== 'settled' || BigInt(result.amountBaseUnits) === this.amountOf()) return result;
    return { outcome: 'failed', failure: 'payment_used', txHash: null };
  }
}

function toStored(response: SettleResponse): StoredAnswer {
  return { status: 200, headers: [], body: Buffer.from(JSON.stringify(response)) };
}
