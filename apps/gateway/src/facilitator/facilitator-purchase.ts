import type { AnsweredFacts, PaymentTimeline, ReleasedFacts, SaleFacts } from '@tollgate/book-events';
import type { Ledger, PaymentId, StoredAnswer } from '@tollgate/ledger';
import type {
  ClaimedState,
  ClaimedPurchase,
  PresentedPurchase,
  ReleaseTerms,
  Settled,
} from '@tollgate/middleware/purchase';
import { caip2Of, lowerHex, payerOf, schemeOf, type Hex, type SettleResponse } from '@tollgate/protocol';
import type { SettlementResult, SignedPaymentVerdict } from '@tollgate/transport';

import { decodeReceipt, encodeReceipt } from '../paywall/answer/settlement-headers.js';
import {
  isMetered,
  reasonOf,
  type ClaimKeys,
  type SignedPaymentQuestion,
  type SignedPayments,
} from '../signed-payments/signed-payments.js';
import type { FacilitatorRequest } from './parse-facilitator-request.js';

type Claim = Extract<SignedPaymentVerdict, { outcome: 'claimed' }>;
type State = Exclude<SignedPaymentVerdict, Claim>;
/** The product is the report of a settlement. */
type Presented = PresentedPurchase<State, SettleResponse, SettlementResult, SettleResponse>;

export interface FacilitatorPurchaseParts {
  readonly ledger: Ledger;
  readonly payments: SignedPayments;
  readonly leaseMs: number;
  readonly request: FacilitatorRequest;
  readonly question: SignedPaymentQuestion;
  /** Whose recipient is another seller's. */
  readonly isForOther: boolean;
}

/** A payment that a server's request presents, to have it settled. */
export class FacilitatorPurchase implements Presented {
  /** Set once the payment is claimed. */
  payer: string | undefined;

  constructor(
    private readonly parts: FacilitatorPurchaseParts,
    private readonly keys: ClaimKeys,
  ) {}

  async verify(): Promise<State | ClaimedState<SettleResponse, SettlementResult>> {
    const verdict = await this.parts.payments.claim(this.parts.question, this.keys);
    if (verdict.outcome !== 'claimed') return verdict;
    this.payer = verdict.payer;
    return { outcome: 'claimed', purchase: new FacilitatorClaimedPurchase(this.parts, verdict, this.keys.fingerprint) };
  }

  explain(error: unknown): State {
    return { outcome: 'unavailable', reason: reasonOf(error) };
  }

  async readAnswer({ id }: { readonly id: PaymentId }): Promise<SettleResponse | null> {
    const stored = await this.parts.ledger.readAnswer(id);
    return stored && (JSON.parse(stored.body.toString()) as SettleResponse);
  }

  /** The success of a payment whose report was not stored; null where its receipt is gone. */
  async reproduce({ id }: { readonly id: PaymentId }): Promise<SettleResponse | null> {
    const text = await this.parts.ledger.readReceipt(id);
    const txHash = (text === null ? null : decodeReceipt(text))?.txHash ?? null;
    if (txHash === null) return null;
    const { terms, payment } = this.parts.question;
    // The request that was answered asked for this amount too: the fingerprint of a repeat contains it.
    return reportSuccess(this.parts.request, {
      payer: payerOf(payment),
      txHash,
      amountBaseUnits: terms.priceBaseUnits,
    });
  }
}

/** A payment that is claimed for a server's request to settle it. */
class FacilitatorClaimedPurchase implements ClaimedPurchase<SettleResponse, SettlementResult> {
  readonly settles = 'before';
  readonly mayBeSettled = false;
  readonly leaseMs: number;
  readonly recordsSettlement: boolean;
  readonly settled: SettlementResult | null;
  /** Null while nothing is reported to the book. */
  readonly #timeline: PaymentTimeline | null;

  constructor(
    private readonly parts: FacilitatorPurchaseParts,
    private readonly claim: Claim,
    private readonly fingerprint: string,
  ) {
    const { txHash, payer, amountBaseUnits = this.#amount } = claim;
    const { ledger } = parts;
    this.#timeline = ledger.isBooked ? startTimeline(ledger.nowMs(), claim.lease.untilMs - parts.leaseMs) : null;
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

  produce(settled: Settled<SettlementResult>): Promise<SettleResponse> {
    return Promise.resolve(reportSuccess(this.parts.request, settled));
  }

  isCharged(): boolean {
    return true;
  }

  /** Without the commit, a second request would get the same success. The receipt is kept if the report is not. */
  commit(response: SettleResponse, { txHash }: Settled<SettlementResult>): Promise<boolean> {
    const terms = { receipt: encodeReceipt({ txHash }), facts: this.#describe(response), repeatForMs: this.leaseMs };
    return this.parts.ledger.commit(this.claim.lease, toStored(response), terms).catch(() => false);
  }

  /** If the ledger is unavailable, the lease expires. */
  release(terms: ReleaseTerms): Promise<boolean> {
    return this.parts.ledger.release(this.claim.lease, terms, this.#describeRelease(terms)).then(
      () => true,
      () => true,
    );
  }

  reportFailure(): 'store' {
    return 'store';
  }

  /** For the book: the resource was another server's, which alone knows its request and its answer. */
  #describe(response: SettleResponse): AnsweredFacts | null {
    if (this.#timeline === null) return null;
    const facts = { requestHash: this.fingerprint, answerHash: null, status: 200, bytes: null, upstreamMs: null };
    const transaction = response.transaction === '' ? null : (response.transaction as Hex);
    return { ...this.#describeSale(transaction), ...facts, timeline: this.#timeline };
  }

  #describeRelease({ cause }: ReleaseTerms): ReleasedFacts | null {
    const { txHash } = this.claim;
    if (this.#timeline === null || txHash === null) return null;
    return { reason: cause, sale: this.#describeSale(txHash), timeline: this.#timeline };
  }

  #describeSale(transaction: Hex | null): SaleFacts {
    const { question, isForOther } = this.parts;
    const { terms, payment, requestId } = question;
    return {
      requestId,
      route: 'facilitator',
      method: 'POST',
      scheme: schemeOf(payment),
      network: caip2Of(terms.chainId),
      chainId: terms.chainId,
      asset: lowerHex(terms.asset),
      payTo: lowerHex(terms.payTo),
      ...(isForOther && { forOther: true }),
      payer: this.claim.payer,
      amount: this.#amount,
      price: this.#amount,
      transaction,
      logIndex: null,
    };
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

/** The question came when the server had its client's payment; when it was made is not known here. */
function startTimeline(nowMs: number, claimedAtMs: number): PaymentTimeline {
  return { presentedAtMs: claimedAtMs, verifiedAtMs: nowMs, claimedAtMs, fulfilledAtMs: null, settledAtMs: null };
}

function reportSuccess(
  { requirement }: FacilitatorRequest,
  { payer, txHash, amountBaseUnits }: Omit<Settled<SettlementResult>, 'outcome'>,
): SettleResponse {
  return { success: true, payer, transaction: txHash, network: requirement.network, amount: amountBaseUnits };
}

function toStored(response: SettleResponse): StoredAnswer {
  return { status: 200, headers: [], body: Buffer.from(JSON.stringify(response)) };
}
