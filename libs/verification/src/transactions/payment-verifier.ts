import { type ChainReader, ReceiptTooLargeError, ShortMemory, type Sighting } from '@tollgate/chain';
import { hashRetryKey, isSignedId, locatePayment, type ClaimResult, type Ledger } from '@tollgate/ledger';
import type { PaymentFailure } from '@tollgate/protocol';
import type { VerifyPaymentRequest, VerifyPaymentVerdict } from '@tollgate/transport';

import type { ClientShares, LookUps } from '../limits/client-shares.js';
import type { WaitingRoom } from '../limits/waiting-room.js';
import {
  describeDoubt,
  explainRefusal,
  type RefundNotes,
  isNotYet,
  PaymentRefused,
  RETRY_AFTER_MS,
} from '../refusals.js';
import type { SellerTerms } from '../seller-terms.js';
import {
  isConfirmed,
  judgePayment,
  type JudgedPayment,
  type TransactionJudgement,
  type Rules,
} from './transaction-rules.js';

export interface PaymentVerifierOptions extends RefundNotes {
  /** What this verifier is configured for; a gateway that asks for other terms has different settings. */
  terms: SellerTerms;
  rules: Rules;
  chain: ChainReader;
  ledger: Pick<Ledger, 'claim' | 'recall' | 'recordRefusal' | 'nowMs'>;
  waitingRoom: WaitingRoom;
  shares: ClientShares;
}

interface Judged {
  judgement: TransactionJudgement;
  headBlockNumber: number;
}

const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 4096;

/** Failures decided by receipt, token and recipient, for every client, resource and price. They are not recorded for refunds. */
const FINAL: ReadonlySet<PaymentFailure> = new Set(['transaction_failed', 'transfer_missing', 'belongs_to_permit']);

/**
 * Checks the chain, then claims the payment in the ledger. A refusal is a verdict; a failure of chain or ledger never
 * is.
 */
export class PaymentVerifier {
  readonly refusals: FinalRefusals;

  constructor(private readonly options: PaymentVerifierOptions) {
    this.refusals = new FinalRefusals(options.rules.confirmations);
  }

  /** Never throws because of a payer, the chain or Redis. */
  async verify(request: VerifyPaymentRequest): Promise<VerifyPaymentVerdict> {
    const { terms, ledger, waitingRoom } = this.options;
    if (!terms.include(request)) return { outcome: 'unavailable', reason: 'settings_differ' };
    if (request.deadlineMs <= ledger.nowMs()) return { outcome: 'unavailable', reason: 'deadline_passed' };
    const lookUps = this.options.shares.begin(request.clientAddress);
    let verdict: VerifyPaymentVerdict;
    try {
      const { clientAddress, deadlineMs } = request;
      const judged = await waitingRoom.retry(clientAddress, deadlineMs, () => this.#judge(request, lookUps));
      verdict = await this.#claim(request, judged, lookUps);
    } catch (error) {
      verdict = await this.#explain(error, request);
    }
    lookUps.end(verdict);
    return verdict;
  }

  async #judge(request: VerifyPaymentRequest, lookUps: LookUps): Promise<Judged> {
    const { chain, rules } = this.options;
    this.refusals.assertNone(request);
    const sighting = await this.#look(request, lookUps);
    try {
      const judgement = await judgePayment(request, sighting, rules, chain, lookUps);
      return { judgement, headBlockNumber: sighting.headBlockNumber };
    } catch (error) {
      this.refusals.remember(request, sighting, error);
      throw await this.#reviewTooLow(error);
    }
  }

  /**
   * A payment below the price may be under way for a cheaper request, or have bought one. What the ledger knows is no
   * refused money, so it is not recorded: a stranger can present any transaction at any price.
   */
  async #reviewTooLow(error: unknown): Promise<unknown> {
    if (!(error instanceof PaymentRefused) || error.failure !== 'amount_too_low') return error;
    const { failure, record } = error;
    if (record?.minedAtMs === undefined) return error;
    const { id, minedAtMs } = record;
    const recalled = await this.options.ledger.recall({ id, minedAtMs });
    if (recalled === 'known') return new PaymentRefused(failure);
    const doubt = this.#doubt(recalled === 'forgotten' ? 'older_than_ledger' : failure, minedAtMs);
    return new PaymentRefused(failure, { ...record, ...doubt });
  }

  async #look(request: VerifyPaymentRequest, lookUps: LookUps): Promise<Sighting> {
    try {
      lookUps.assertLeft();
      return await this.options.chain.readTransaction(request.txHash, request.deadlineMs, lookUps);
    } catch (error) {
      throw error instanceof ReceiptTooLargeError ? this.refusals.rememberTooLarge(request) : error;
    }
  }

  async #claim(
    request: VerifyPaymentRequest,
    { judgement, headBlockNumber }: Judged,
    lookUps: LookUps,
  ): Promise<VerifyPaymentVerdict> {
    const { owner, fingerprint, leaseMs, deadlineMs, reference } = request;
    const { payments, isBound, blockNumber, minedAtMs, windowMs } = judgement;
    const result = await this.options.ledger.claim({
      candidates: payments.map(({ id }) => ({ id, blockNumber, minedAtMs, windowMs })),
      owner,
      fingerprint,
      retryKey: request.retryKey ?? (isBound && reference ? hashRetryKey(reference.text) : null),
      keyReserves: isBound || request.keyReserves !== false,
      leaseMs,
      deadlineMs,
      headBlockNumber,
    });
    if (result.outcome === 'used' || result.outcome === 'conflict') {
      // The hash of a shared settlement is public, and the ledger is asked for each of its payments.
      const tried = judgement.payments.filter(({ id }) => isSignedId(id)).length;
      if (tried > 1) lookUps.foundNothing(tried);
    }
    return this.#toVerdict(result, judgement);
  }

  async #toVerdict(result: ClaimResult, judgement: TransactionJudgement): Promise<VerifyPaymentVerdict> {
    switch (result.outcome) {
      case 'claimed': {
        const { payer, amountBaseUnits } = findJudged(judgement, result.lease.id);
        const amount = amountBaseUnits === null ? {} : { amountBaseUnits: amountBaseUnits.toString() };
        return { outcome: 'claimed', lease: result.lease, bound: judgement.isBound, payer, ...amount };
      }
      case 'answered':
      case 'busy':
      case 'paused':
      case 'conflict':
        return result;
      case 'used':
        return { outcome: 'refused', failure: 'payment_used' };
      case 'late':
        return { outcome: 'unavailable', reason: 'deadline_passed' };
      case 'refused': {
        // Its refund is under way, so it is not recorded for one.
        if (result.failure === 'payment_refunded') throw new PaymentRefused(result.failure);
        const { id, payer, amountBaseUnits } = findJudged(judgement, result.id);
        const { minedAtMs } = judgement;
        const amount = amountBaseUnits === null ? {} : { amountBaseUnits };
        const doubt = this.#doubt(result.failure, minedAtMs);
        throw new PaymentRefused(result.failure, { id, payer, minedAtMs, ...amount, ...doubt });
      }
    }
  }

  #doubt(failure: PaymentFailure, minedAtMs: number): { detail?: string } {
    const { ledger, rules } = this.options;
    const memoryMs = Math.max(rules.redemptionWindowMs, rules.boundRedemptionWindowMs);
    return describeDoubt(failure, { minedAtMs, nowMs: ledger.nowMs(), memoryMs });
  }

  async #explain(error: unknown, request: VerifyPaymentRequest): Promise<VerifyPaymentVerdict> {
    const verdict = await explainRefusal(error, this.options, request);
    const mayWait = verdict.outcome === 'refused' && isNotYet(verdict.failure);
    return mayWait ? { ...verdict, retryAfterMs: RETRY_AFTER_MS } : verdict;
  }
}

/** A transaction that is shown as a payment by one option. */
type Shown = Pick<VerifyPaymentRequest, 'asset' | 'payTo' | 'txHash'>;

/**
 * Confirmed transactions that can never be a payment by an option: refused without another look at the chain. Kept for a
 * minute, since even a confirmed block may be replaced.
 */
class FinalRefusals {
  readonly counts = { refused_again: 0 };
  readonly #known = new ShortMemory<PaymentFailure>({ rememberedMs: REMEMBERED_MS, maxRemembered: MAX_REMEMBERED });

  constructor(private readonly confirmations: number) {}

  /** Repeats an earlier refusal. */
  assertNone(shown: Shown): void {
    const known = this.#known.find(nameOf(shown));
    if (known === null) return;
    this.counts.refused_again++;
    throw new PaymentRefused(known.value);
  }

  /** Remembers a transaction's failure if it is final. */
  remember(shown: Shown, { mined, headBlockNumber }: Sighting, error: unknown): void {
    if (!(error instanceof PaymentRefused) || !FINAL.has(error.failure) || mined === null) return;
    if (!isConfirmed(mined.receipt.blockNumber, headBlockNumber, this.confirmations)) return;
    this.#known.keep(nameOf(shown), error.failure);
  }

  /** A receipt's length is the same in every block. */
  rememberTooLarge(shown: Shown): PaymentRefused {
    this.#known.keep(nameOf(shown), 'receipt_too_large');
    return new PaymentRefused('receipt_too_large');
  }
}

const nameOf = ({ asset, payTo, txHash }: Shown): string => `${asset} ${payTo} ${txHash}`;

function findJudged({ payments }: TransactionJudgement, id: JudgedPayment['id']): JudgedPayment {
  const place = locatePayment(id);
  const judged = payments.find((payment) => {
    const { entry, slot } = locatePayment(payment.id);
    return entry === place.entry && slot === place.slot;
  });
  if (judged === undefined) throw new Error('the ledger returned a payment that was not among the candidates');
  return judged;
}
