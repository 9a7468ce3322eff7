import { Inject, Injectable } from '@nestjs/common';
import { ProblemError, type ApiKey, type SettlementResult } from '@tollgate/common';
import { createFingerprint, hashRetryKey, type Lease, type StoredAnswer } from '@tollgate/ledger';
import {
  DUPLICATE_SETTLEMENT,
  SETTLEMENT_PENDING,
  type RequirementTerms,
  type SettleResponse,
  type SignedPayment,
  type SignedPermit,
} from '@tollgate/protocol';

import { GatewayEnvironment } from '../gateway.config.js';
import { LeaseKeeper } from '../paywall/lease-keeper.js';
import { PaywallCounters } from '../paywall/paywall-counters.js';
import { PaywallConnections } from '../paywall/paywall.module.js';
import { SignedPayments, type SignedPaymentQuestion } from '../signed-payments/signed-payments.js';
import { KEY_NEEDED } from './facilitator-access.js';
import { FacilitatorCounters } from './facilitator-counters.js';
import { FacilitatorLog } from './facilitator-log.js';
import { createSettling, createUnavailable } from './facilitator-unavailable.js';
import type { Asker } from './facilitator-verification.js';
import { parseFacilitatorRequest, type FacilitatorRequest } from './parse-facilitator-request.js';
import { ServedTerms } from './served-terms.js';
import { fail, isMetered, reasonFor } from './settle-response.js';

export interface SettleAsker extends Asker {
  /** Null for a request without API key. */
  readonly key: ApiKey | null;
  readonly idempotencyKey: string | undefined;
}

export interface Settled {
  readonly response: SettleResponse;
  /** Whether the response is a replay of an earlier one with the same idempotency key. */
  readonly isReplay: boolean;
}

type Outcome = 'settled' | 'not_settled' | 'pending';

/**
 * Settles a signed payment and reports its success once. A second request for it is refused as a duplicate settlement.
 */
@Injectable()
export class FacilitatorSettlement {
  readonly #freeRecipients: ReadonlySet<string>;
  readonly #ownAsset: string;
  readonly #leastBaseUnits: bigint;
  readonly #leaseMs: number;

  constructor(
    @Inject(GatewayEnvironment) { facilitator, payment, answers }: GatewayEnvironment,
    @Inject(ServedTerms) private readonly served: ServedTerms,
    @Inject(SignedPayments) private readonly payments: SignedPayments,
    @Inject(PaywallConnections) private readonly connections: PaywallConnections,
    @Inject(PaywallCounters) private readonly inFlight: PaywallCounters,
    @Inject(FacilitatorCounters) private readonly counters: FacilitatorCounters,
    @Inject(FacilitatorLog) private readonly log: FacilitatorLog,
  ) {
    this.#freeRecipients = new Set(facilitator.facilitatorPayTo.map((address) => address.toLowerCase()));
    this.#ownAsset = payment.signedAsset.asset;
    this.#leastBaseUnits = BigInt(facilitator.facilitatorMinBaseUnits);
    this.#leaseMs = answers.leaseMs;
  }

  /** @throws ProblemError for a malformed or forbidden request, and if the payment cannot be settled now */
  async settle(body: unknown, asker: SettleAsker): Promise<Settled> {
    const settled = await this.#answerTo(body, asker);
    if (!settled.isReplay) this.log.answered(settled.response, asker.clientAddress);
    return settled;
  }

  async #answerTo(body: unknown, asker: SettleAsker): Promise<Settled> {
    const request = parseFacilitatorRequest(body);
    const served = this.served.read(request);
    if ('reason' in served) return this.#refuse(request, served.reason, served.message);
    const question = { requestId: asker.requestId, clientAddress: asker.clientAddress, ...served };
    const { payment } = served;
    if (isMetered(payment) && served.terms.priceBaseUnits === '0')
      return this.#settleNothing(request, question, payment);
    if (asker.key === null) this.#assertFree(request.requirement);
    // Counted, so that the process does not end before a settled payment is committed.
    this.inFlight.enter();
    try {
      return await this.#settle(request, question, asker);
    } finally {
      this.inFlight.leave();
    }
  }

  /** Checks that the payment may be settled without an API key, since the relayer pays the gas. */
  #assertFree({ payTo, asset, amountBaseUnits }: RequirementTerms): void {
    const isEnough = asset === this.#ownAsset && BigInt(amountBaseUnits) >= this.#leastBaseUnits;
    const isFree = this.#freeRecipients.has(payTo) && isEnough;
    if (!isFree) throw new ProblemError(KEY_NEEDED);
  }

  async #settle(request: FacilitatorRequest, question: SignedPaymentQuestion, asker: SettleAsker): Promise<Settled> {
    const verdict = await this.payments.claim(question, keysFor(request.requirement, asker));
    switch (verdict.outcome) {
      case 'claimed': {
        return this.#settleClaimed(request, question, verdict);
      }
      case 'answered':
        return this.#replay(request, await this.connections.ledger.readAnswer(verdict.id));
      case 'busy':
        return this.#answer('pending', fail(request, SETTLEMENT_PENDING, 'The payment is being settled.'));
      case 'conflict':
        return this.#refuse(request, DUPLICATE_SETTLEMENT, 'payment_used');
      case 'refused': {
        const { failure, payer } = verdict;
        return this.#refuse(request, reasonFor(failure, request, question.payment), failure, payer);
      }
      case 'valid':
      case 'unavailable':
        throw this.#unavailable('retryAfterMs' in verdict ? verdict.retryAfterMs : undefined);
    }
  }

  /** Reports a charge of zero as settled: there is no transaction and no gas, and the permit stays valid. */
  async #settleNothing(
    request: FacilitatorRequest,
    question: SignedPaymentQuestion,
    { permit2Authorization }: SignedPermit,
  ): Promise<Settled> {
    const terms = { ...question.terms, priceBaseUnits: permit2Authorization.permitted.amount };
    const verdict = await this.payments.look({ ...question, terms });
    if (verdict.outcome === 'unavailable') throw this.#unavailable(verdict.retryAfterMs);
    const payer = permit2Authorization.from;
    if (verdict.outcome === 'valid' && verdict.txHash === null) {
      const { network } = request.requirement;
      return this.#answer('settled', { success: true, payer, transaction: '', network, amount: '0' });
    }
    const failure = verdict.outcome === 'refused' ? verdict.failure : 'payment_used';
    return this.#refuse(request, reasonFor(failure, request, question.payment), failure, payer);
  }

  async #settleClaimed(request: FacilitatorRequest, question: SignedPaymentQuestion, claim: Claim): Promise<Settled> {
    const keeper = new LeaseKeeper(this.connections.ledger, claim.lease, this.#leaseMs);
    try {
      const result = await this.#move(question, claim);
      return await this.#finish(request, question.payment, claim, result);
    } finally {
      keeper.stop();
    }
  }

  async #move(question: SignedPaymentQuestion, { lease, txHash, payer, ...moved }: Claim): Promise<SettlementResult> {
    const { priceBaseUnits } = question.terms;
    const { amountBaseUnits = priceBaseUnits } = moved;
    if (txHash !== null) return { outcome: 'settled', txHash, payer, amountBaseUnits };
    if (isMetered(question.payment) && !(await this.#fixAmount(lease, priceBaseUnits))) {
      return { outcome: 'unavailable', reason: 'amount_not_fixed' };
    }
    return this.payments.settle(question, priceBaseUnits);
  }

  /**
   * Fixes the amount before it is submitted: until this settlement is resolved, no other amount of the payment can be
   * settled, here or at the paywall.
   */
  async #fixAmount(lease: Lease, amountBaseUnits: string): Promise<boolean> {
    const fixed = await this.connections.ledger.fixAmount(lease, BigInt(amountBaseUnits)).catch(() => null);
    return fixed === BigInt(amountBaseUnits);
  }

  async #finish(
    request: FacilitatorRequest,
    payment: SignedPayment,
    { lease, payer }: Claim,
    result: SettlementResult,
  ): Promise<Settled> {
    switch (result.outcome) {
      case 'settled': {
        const { txHash: transaction, amountBaseUnits: amount } = result;
        if (BigInt(amount) !== BigInt(request.requirement.amountBaseUnits)) {
          // The success belongs to the request for that amount; this server asked for another one.
          await this.#release(lease, { counted: false });
          return this.#refuse(request, DUPLICATE_SETTLEMENT, 'payment_used', payer);
        }
        const response = { success: true, payer, transaction, network: request.requirement.network, amount };
        // Without the commit, a second request would get the same success.
        const isMarked = await this.connections.ledger.commit(lease, toStored(response)).catch(() => false);
        if (isMarked) return this.#answer('settled', response);
        return this.#answer('pending', {
          ...fail(request, SETTLEMENT_PENDING, 'The payment is being settled.', payer),
          transaction,
        });
      }
      case 'failed': {
        // A failure on the chain cost gas, so the number of attempts is limited.
        await this.#release(lease, { counted: result.txHash !== null, forgetsAmount: true });
        return this.#refuse(request, reasonFor(result.failure, request, payment), result.failure, payer);
      }
      case 'pending': {
        await this.#release(lease, { counted: false });
        if (result.txHash === null) throw this.#settling();
        const response = fail(request, SETTLEMENT_PENDING, 'The payment is being settled.', payer);
        return this.#answer('pending', { ...response, transaction: result.txHash });
      }
      case 'unavailable':
        await this.#release(lease, { counted: false });
        throw this.#unavailable(result.retryAfterMs);
    }
  }

  /** If the ledger is unavailable, the lease expires. */
  async #release(lease: Lease, terms: { counted: boolean; forgetsAmount?: boolean }): Promise<void> {
    await this.connections.ledger.release(lease, terms).catch(() => false);
  }

  #replay(request: FacilitatorRequest, stored: StoredAnswer | null): Settled {
    if (stored === null) return this.#refuse(request, DUPLICATE_SETTLEMENT, 'payment_used');
    this.counters.counts.replayed += 1;
    return { response: JSON.parse(stored.body.toString()) as SettleResponse, isReplay: true };
  }

  #refuse(request: FacilitatorRequest, reason: string, message: string, payer?: string): Settled {
    return this.#answer('not_settled', fail(request, reason, message, payer));
  }

  #answer(outcome: Outcome, response: SettleResponse): Settled {
    this.counters.counts[outcome] += 1;
    return { response, isReplay: false };
  }

  /** A 503, because servers only poll `settlement_pending` if it names a transaction. */
  #settling(): ProblemError {
    this.counters.counts.pending += 1;
    return new ProblemError(createSettling());
  }

  #unavailable(retryAfterMs?: number): ProblemError {
    this.counters.counts.unavailable += 1;
    return new ProblemError(createUnavailable(retryAfterMs));
  }
}

interface Claim {
  readonly lease: Lease;
  readonly payer: `0x${string}`;
  readonly txHash: `0x${string}` | null;
  /** The settled amount, where it may be less than the requested one. */
  readonly amountBaseUnits?: string;
}

/** The API key is part of the retry key, since different callers may use the same Idempotency-Key, such as `1`. */
function keysFor({ network, payTo, asset, amountBaseUnits }: RequirementTerms, { key, idempotencyKey }: SettleAsker) {
  const query = [network, payTo, asset, amountBaseUnits].join(' ');
  return {
    fingerprint: createFingerprint({ method: 'POST', path: '/facilitator/settle', query }),
    retryKey: idempotencyKey === undefined ? null : hashRetryKey(`${key?.id ?? ''}\n${idempotencyKey}`),
  };
}

function toStored(response: SettleResponse): StoredAnswer {
  return { status: 200, headers: [], body: Buffer.from(JSON.stringify(response)) };
}
