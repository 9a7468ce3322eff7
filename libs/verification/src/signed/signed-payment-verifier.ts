import type { ChainReader, SentPayment } from '@tollgate/chain';
import { signedPaymentId, type ClaimResult, type Ledger } from '@tollgate/ledger';
import { payerOf, recipientOf, type Hex, type PaymentFailure, type SignedPayment } from '@tollgate/protocol';
import { StoreUnavailableError } from '@tollgate/redis';
import type {
  EarlierSettlement,
  SignedPaymentTerms,
  SignedPaymentVerdict,
  VerifySignedPaymentRequest,
} from '@tollgate/transport';

import type { ClientShares, LookUps } from '../limits/client-shares.js';
import type { WaitingRoom } from '../limits/waiting-room.js';
import { verificationMethods } from '../methods/registry.js';
import {
  describeDoubt,
  explainRefusal,
  type RefundNotes,
  isNotYet,
  PaymentRefused,
  RETRY_AFTER_MS,
} from '../refusals.js';
import type { AcceptedAssets } from './accepted-assets.js';
import { Exposure } from './exposure.js';
import { judgeSignedPayment } from './judge-signed-payment.js';
import { needsReview, reviewRefusal } from './review-refusal.js';
import type { SignedJudgement, SignedPaymentRules } from './signed-judgement.js';

/** The payments that a relayer, in any process, may still move. Throws StoreUnavailableError, or what Redis throws. */
export interface UnderWay {
  include(terms: SignedPaymentTerms, payment: SignedPayment): Promise<boolean>;
  /** The transactions that a relayer has signed for the payment. */
  findTransactions(terms: SignedPaymentTerms, payment: SignedPayment): Promise<SentPayment>;
}

export interface SignedPaymentVerifierOptions extends RefundNotes {
  assets: AcceptedAssets;
  rules: SignedPaymentRules;
  /** The accounts that settle payments here, in lower case. */
  readRelayers: () => Promise<ReadonlySet<Hex>>;
  underWay: UnderWay;
  chain: ChainReader;
  ledger: Pick<Ledger, 'claim' | 'isLeased' | 'whySpent' | 'recall' | 'recordRefusal' | 'nowMs'>;
  waitingRoom: WaitingRoom;
  shares: ClientShares;
}

type NotAccepted = Extract<SignedPaymentVerdict, { outcome: 'refused' | 'unavailable' }>;
type Claim = NonNullable<VerifySignedPaymentRequest['claim']>;

/** A payment must stay valid this long at least, to leave time to settle it. */
const TIME_TO_SETTLE_MS = 6_000;

/** Failures after which the signature can move no more money, or what it moves is paid back. */
const NONCE_IS_GONE: ReadonlySet<PaymentFailure> = new Set([
  'payment_used',
  'payment_too_old',
  'authorization_cancelled',
  'payment_refunded',
]);

/**
 * Checks the rules for signed payments, then claims the payment in the ledger. A refusal makes the payer sign again, so
 * it is returned only when none of the payer's money has moved or may still move; otherwise the payment is unavailable
 * for now.
 */
export class SignedPaymentVerifier {
  readonly #exposure: Exposure;

  constructor(private readonly options: SignedPaymentVerifierOptions) {
    const mayStillMove = (unsent: Pick<VerifySignedPaymentRequest, 'terms' | 'payment'>) => this.#mayStillMove(unsent);
    this.#exposure = new Exposure({ chain: options.chain, mayStillMove });
  }

  /** Never throws because of a payer, the chain or Redis. */
  async verify(request: VerifySignedPaymentRequest): Promise<SignedPaymentVerdict> {
    const { assets, ledger, shares, waitingRoom } = this.options;
    if (request.deadlineMs <= ledger.nowMs()) return { outcome: 'unavailable', reason: 'deadline_passed' };
    const lookUps = shares.begin(request.clientAddress);
    let verdict: SignedPaymentVerdict;
    try {
      const domainSeparator = assets.findDomain(request.terms);
      if (domainSeparator === null) return { outcome: 'unavailable', reason: 'settings_differ' };
      // Its payer would be refused for the seller's mistake, and may have paid before the mistake was made.
      if (verificationMethods.of(request.payment).isOfTokenDomain && assets.isMisnamed(request.terms.asset))
        return unavailable('asset_misnamed');
      const judge = () => this.#judge(request, { domainSeparator, lookUps });
      verdict = await this.#accept(request, await waitingRoom.retry(request.clientAddress, request.deadlineMs, judge));
    } catch (error) {
      verdict = await this.#explain(error, request, lookUps);
    }
    lookUps.end(verdict);
    return verdict;
  }

  #judge(
    { terms, payment, deadlineMs, validForMs = 0 }: VerifySignedPaymentRequest,
    { domainSeparator, lookUps }: { domainSeparator: Hex; lookUps: LookUps },
  ): Promise<SignedJudgement> {
    const { chain, rules, readRelayers, ledger } = this.options;
    const leftMs = Math.max(validForMs, TIME_TO_SETTLE_MS);
    const judged = { terms, payment, domainSeparator, nowMs: ledger.nowMs(), validForMs: leftMs, deadlineMs, lookUps };
    const judging = { ...rules, readRelayers, readSent: () => this.#readSent(terms, payment) };
    return judgeSignedPayment(judged, judging, chain);
  }

  async #accept(request: VerifySignedPaymentRequest, judgement: SignedJudgement): Promise<SignedPaymentVerdict> {
    if (request.claim !== null) return this.#claim(request, request.claim, judgement);
    return { outcome: 'valid', payer: judgement.payer, ...describeSettlement(judgement) };
  }

  async #claim(
    { terms, payment, deadlineMs }: VerifySignedPaymentRequest,
    { mustBeSettled, ...claim }: Claim,
    judgement: SignedJudgement,
  ): Promise<SignedPaymentVerdict> {
    const { ledger, rules } = this.options;
    const { id, headBlockNumber, balanceBaseUnits } = judgement;
    if (mustBeSettled && judgement.settlement === null) throw new PaymentRefused('unknown_reference');
    // An unsent payment can be mined in the next block at the earliest, so nothing that the ledger may have lost
    // concerns it.
    const unsent = { blockNumber: headBlockNumber + 1, minedAtMs: ledger.nowMs() };
    const { blockNumber, minedAtMs } = judgement.settlement ?? unsent;
    const isCounted = balanceBaseUnits !== undefined;
    const open = isCounted ? await this.#exposure.open({ terms, payment }, { balanceBaseUnits, deadlineMs }) : null;
    if (open === 'payer_busy') return unavailable(open);
    if (open === 'balance_too_low') throw new PaymentRefused(open);
    let result: ClaimResult | undefined;
    try {
      const candidates = [{ id, blockNumber, minedAtMs, windowMs: rules.redemptionWindowMs }];
      result = await ledger.claim({ ...claim, candidates, deadlineMs, headBlockNumber });
    } finally {
      if (open) this.#exposure.close(open, { isClaimed: result?.outcome === 'claimed' });
    }
    return this.#toVerdict(result, judgement);
  }

  #toVerdict(result: ClaimResult, judgement: SignedJudgement): SignedPaymentVerdict {
    const { payer, settlement, simulation, ...payment } = judgement;
    switch (result.outcome) {
      case 'claimed': {
        const { lease } = result;
        return {
          outcome: 'claimed',
          lease,
          payer,
          ...describeSettlement(judgement),
          ...(simulation && { simulation }),
        };
      }
      case 'answered':
      case 'busy':
      case 'paused':
      case 'conflict':
        return result;
      case 'used':
        throw new PaymentRefused('payment_used');
      case 'late':
        return { outcome: 'unavailable', reason: 'deadline_passed' };
      case 'refused': {
        const { failure } = result;
        // Its refund is under way, so it is not recorded for one.
        if (failure === 'payment_refunded') throw new PaymentRefused(failure);
        if (settlement === null) {
          // The chain state read may be older than what the ledger has lost: a later attempt decides.
          if (failure !== 'released_too_often') return unavailable(failure);
          throw new PaymentRefused(failure);
        }
        const { ledger, rules } = this.options;
        const { id, amountBaseUnits } = payment;
        const { minedAtMs } = settlement;
        const doubt = describeDoubt(failure, { minedAtMs, nowMs: ledger.nowMs(), memoryMs: rules.memoryMs });
        throw new PaymentRefused(failure, { id, payer, amountBaseUnits, minedAtMs, ...doubt });
      }
    }
  }

  async #explain(error: unknown, request: VerifySignedPaymentRequest, lookUps: LookUps): Promise<SignedPaymentVerdict> {
    const verdict = await this.#refuse(error, request);
    if (verdict.outcome !== 'refused' || NONCE_IS_GONE.has(verdict.failure)) return verdict;
    const { payment, claim } = request;
    // A payment to another recipient than the requested one may be under way to that one.
    const signed = { ...request, terms: { ...request.terms, payTo: recipientOf(payment) } };
    try {
      if (await this.#mayStillMove(signed)) {
        return claim === null ? unavailable('settlement_pending') : { outcome: 'busy', retryAfterMs: RETRY_AFTER_MS };
      }
    } catch {
      return unavailable('journal_unavailable');
    }
    const isDoubtful = error instanceof PaymentRefused && needsReview(error, payment);
    if (!isDoubtful) return verdict;
    try {
      return await this.#review(verdict.failure, signed, lookUps);
    } catch (reviewed) {
      return this.#refuse(reviewed, request);
    }
  }

  async #review(
    failure: PaymentFailure,
    request: VerifySignedPaymentRequest,
    lookUps: LookUps,
  ): Promise<SignedPaymentVerdict> {
    const { chain, ledger, rules } = this.options;
    const { terms, payment, deadlineMs } = request;
    const sent = await this.#readSent(terms, payment);
    const reviewed = { terms, payment, deadlineMs, lookUps, nowMs: ledger.nowMs() };
    return this.#accept(request, await reviewRefusal(failure, reviewed, { chain, ledger, rules, sent }));
  }

  async #refuse(error: unknown, { requestId, terms, payment }: VerifySignedPaymentRequest): Promise<NotAccepted> {
    const { payTo, asset } = terms;
    const verdict = await explainRefusal(error, this.options, { requestId, payTo, asset });
    if (verdict.outcome !== 'refused') return verdict;
    return isNotYet(verdict.failure) ? unavailable(verdict.failure) : { ...verdict, payer: payerOf(payment) };
  }

  async #readSent(terms: SignedPaymentTerms, payment: SignedPayment): Promise<SentPayment> {
    try {
      return await this.options.underWay.findTransactions(terms, payment);
    } catch (cause) {
      throw new StoreUnavailableError('journal', 'The job that settles a payment cannot be read.', { cause });
    }
  }

  /**
   * A payment that was valid when it was claimed or sent may be invalid now and still be moved: by the request that
   * holds it, or afterwards by a relayer.
   */
  async #mayStillMove({ terms, payment }: Pick<VerifySignedPaymentRequest, 'terms' | 'payment'>): Promise<boolean> {
    const { ledger, underWay } = this.options;
    // The order matters: a payment is put into a job before its lease ends.
    return (await ledger.isLeased(signedPaymentId(terms, payment))) || underWay.include(terms, payment);
  }
}

function describeSettlement({ settlement, amountBaseUnits }: SignedJudgement): EarlierSettlement {
  if (settlement === null) return { txHash: null };
  return { txHash: settlement.txHash, amountBaseUnits: amountBaseUnits.toString() };
}

function unavailable(reason: string): Extract<NotAccepted, { outcome: 'unavailable' }> {
  return { outcome: 'unavailable', reason, retryAfterMs: RETRY_AFTER_MS };
}
