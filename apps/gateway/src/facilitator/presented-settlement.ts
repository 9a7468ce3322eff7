import type { SettlementResult, SignedPaymentVerdict } from '@tollgate/common';
import type { Ledger, PaymentId, StoredAnswer } from '@tollgate/ledger';
import type { ClaimedPurchase, PresentedPurchase, ReleaseTerms, Settled } from '@tollgate/middleware/purchase';
import type { SettleResponse } from '@tollgate/protocol';

import {
  isMetered,
  reasonOf,
  type ClaimKeys,
  type SignedPaymentQuestion,
  type SignedPayments,
} from '../signed-payments/signed-payments.js';
import type { FacilitatorRequest } from './parse-facilitator-request.js';

/** The product is the report of a settlement. */
type Presented = PresentedPurchase<SignedPaymentVerdict, SettleResponse, SettlementResult, SettleResponse>;
type Claim = Extract<SignedPaymentVerdict, { outcome: 'claimed' }>;

export interface PresentedSettlementParts {
  readonly ledger: Ledger;
  readonly payments: SignedPayments;
  readonly leaseMs: number;
  readonly request: FacilitatorRequest;
  readonly question: SignedPaymentQuestion;
}

/** A payment that a server's request presents, to have it settled. */
export class PresentedSettlement implements Presented {
  /** Set once the payment is claimed. */
  payer: string | undefined;

  constructor(
    private readonly parts: PresentedSettlementParts,
    private readonly keys: ClaimKeys,
  ) {}

  verify(): Promise<SignedPaymentVerdict> {
    return this.parts.payments.claim(this.parts.question, this.keys);
  }

  explain(error: unknown): SignedPaymentVerdict {
    return { outcome: 'unavailable', reason: reasonOf(error) };
  }

  fulfilment(claim: Claim): ClaimedSettlement {
    this.payer = claim.payer;
    return new ClaimedSettlement(this.parts, claim);
  }

  async readAnswer({ id }: { readonly id: PaymentId }): Promise<SettleResponse | null> {
    const stored = await this.parts.ledger.readAnswer(id);
    return stored && (JSON.parse(stored.body.toString()) as SettleResponse);
  }
}

/** A payment that is claimed for a server's request to settle it. */
class ClaimedSettlement implements ClaimedPurchase<SettleResponse, SettlementResult> {
  readonly settles = 'before';
  readonly mayBeSettled = false;
  readonly leaseMs: number;
  readonly recordsSettlement: boolean;
  readonly settled: SettlementResult | null;

  constructor(
    private readonly parts: PresentedSettlementParts,
    private readonly claim: Claim,
  ) {
    const { txHash, payer, amountBaseUnits = this.#amount } = claim;
    this.leaseMs = parts.leaseMs;
    this.recordsSettlement = isMetered(parts.question.payment);
    this.settled = txHash === null ? null : this.#check({ outcome: 'settled', txHash, payer, amountBaseUnits });
  }

  renew(): Promise<boolean> {
    return this.parts.ledger.renew(this.claim.lease, this.leaseMs);
  }

  amountOf(): bigint {
    return BigInt(this.#amount);
  }

  recordSettlement(amountBaseUnits: bigint): Promise<bigint | null> {
    return this.parts.ledger.fixAmount(this.claim.lease, amountBaseUnits);
  }

  async settle(amountBaseUnits: bigint): Promise<SettlementResult> {
    // Until the settlement of another amount is resolved, here or at the paywall, this one cannot be settled.
    if (amountBaseUnits !== this.amountOf()) return { outcome: 'unavailable', reason: 'amount_not_fixed' };
    return this.#check(await this.parts.payments.settle(this.parts.question, this.#amount));
  }

  produce({ payer, txHash, amountBaseUnits }: Settled<SettlementResult>): Promise<SettleResponse> {
    const { network } = this.parts.request.requirement;
    return Promise.resolve({ success: true, payer, transaction: txHash, network, amount: amountBaseUnits });
  }

  isCharged(): boolean {
    return true;
  }

  /** Without the commit, a second request would get the same success. */
  commit(response: SettleResponse): Promise<boolean> {
    return this.parts.ledger.commit(this.claim.lease, toStored(response)).catch(() => false);
  }

  /** If the ledger is unavailable, the lease expires. */
  release(terms: ReleaseTerms): Promise<boolean> {
    return this.parts.ledger.release(this.claim.lease, terms).then(
      () => true,
      () => true,
    );
  }

  reportFailure(): 'store' {
    return 'store';
  }

  get #amount(): string {
    return this.parts.question.terms.priceBaseUnits;
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
