import { SETTLEMENT_PENDING, validityOf, type Hex, type SettleResponse, type SignedPayment } from '@tollgate/protocol';

import type { AuthorizationChain } from '../chain/authorization-fate.js';
import type { AskedTerms } from '../claim/payment-record.js';
import { FacilitatorError, type Facilitator, type FacilitatorQuestion } from '../verify/facilitator.js';

export interface PaymentSettlerParts {
  readonly question: FacilitatorQuestion;
  readonly payment: SignedPayment;
  readonly facilitator: Facilitator;
  /** Null without `rpcUrl`. */
  readonly chain: AuthorizationChain | null;
  readonly onTrouble: (error: Error) => void;
}

/** What is known of a settlement. */
export type SettlementVerdict =
  | { readonly outcome: 'settled'; readonly response: SettleResponse }
  /** For certain: nothing was moved, and nothing in flight still can. */
  | { readonly outcome: 'failed'; readonly reason: string; readonly response: SettleResponse }
  /** No settlement began. `used`: of a signature that has paid for something else, maybe at another instance. */
  | { readonly outcome: 'turned_away' | 'used' }
  /** It may have been settled, or be settled yet. */
  | { readonly outcome: 'unknown'; readonly reason: string; readonly response: SettleResponse | null };

/** Reasons for a signature that has already been used, possibly by this server. */
export const USED = /already[ _]?used|nonce[ _]?used|duplicate|is used/i;
/** Reasons by which a facilitator says that it does not know either. */
const UNCERTAIN = /unexpected|unavailable|timed?[ _]?out|pending/i;
/** Reverted, if it names the transaction; without one, often a receipt that it waited for in vain. */
const FAILED_TRANSACTION = /(?:transaction|settlement)[ _]?failed/i;
/** How long after its last moment a payment that moved shows on the chain and at its facilitator, for certain. */
const AFTER_LAST_MOMENT_MS = 3_600_000;

/** Settles one payment: the facilitator is asked, and the chain where its answer was lost. */
export class PaymentSettler {
  constructor(private readonly parts: PaymentSettlerParts) {}

  /**
   * What the store records before the facilitator is asked for the first time.
   * @param keepMs for how long a payment without an end is waited for
   */
  async begin(amountBaseUnits: bigint, keepMs: number): Promise<AskedTerms> {
    const { question, payment, chain } = this.parts;
    const terms = {
      payTo: question.paymentRequirements.payTo,
      amount: amountBaseUnits.toString(),
      closesAtMs: closesAtMsOf(payment, keepMs),
    };
    if (chain === null || payment.kind !== 'authorization') return terms;
    try {
      const { from, nonce } = payment.authorization;
      const { block, isTaken } = await chain.readStart(this.#asset, from, nonce);
      return isTaken ? { ...terms, wasTaken: true } : { ...terms, sinceBlock: block };
    } catch (error) {
      // The facilitator can still settle. Of a lost answer, the chain then cannot tell.
      this.parts.onTrouble(error as Error);
      return terms;
    }
  }

  /** @param isRepeat whether an earlier request may have settled the payment */
  async conclude(idempotencyKey: string, asked: AskedTerms, isRepeat: boolean): Promise<SettlementVerdict> {
    const known = isRepeat ? await this.#readChain(asked) : null;
    if (known !== null) return known;
    const heard = await this.#ask(idempotencyKey, asked, isRepeat);
    return heard.outcome === 'unknown' ? ((await this.#readChain(asked)) ?? heard) : heard;
  }

  /** Asks once more if the first answer was lost or is none: with the same key this is safe. */
  async #ask(key: string, asked: AskedTerms, isRepeat: boolean): Promise<SettlementVerdict> {
    const { facilitator } = this.parts;
    // The same key means the same question. Price and recipient may have changed since the first one.
    const question = withTerms(this.parts.question, asked);
    const settle = () =>
      facilitator.settle(question, key).catch((error: unknown) => {
        if (error instanceof FacilitatorError) return error;
        throw error;
      });
    const first = await settle();
    const isLost = first instanceof FacilitatorError ? !first.isRefused : isUncertain(first.response, first.knowsKey);
    const answer = isLost ? await settle() : first;
    const isUnsure = isRepeat || isLost;
    if (answer instanceof FacilitatorError) {
      this.parts.onTrouble(answer);
      if (answer.isTurnedAway && !isUnsure) return { outcome: 'turned_away' };
      const reason = answer.isRefused && !isUnsure ? 'facilitator_refused' : SETTLEMENT_PENDING;
      return { outcome: 'unknown', reason, response: null };
    }
    const { response, knowsKey } = answer;
    if (response.success) return { outcome: 'settled', response };
    const reason = response.errorReason ?? 'unexpected_settle_error';
    // A facilitator that ignores the key may refuse for an effect of its own settlement, such as a balance that it used up.
    const isUsed = USED.test(reason) || asked.wasTaken === true;
    if (isUncertain(response, knowsKey) || (isUnsure && (isUsed || !knowsKey)))
      return { outcome: 'unknown', reason, response };
    return isUsed ? { outcome: 'used' } : { outcome: 'failed', reason, response };
  }

  /** Null if the chain does not decide. */
  async #readChain({ payTo, amount, sinceBlock }: AskedTerms): Promise<SettlementVerdict | null> {
    const { chain, payment, question, onTrouble } = this.parts;
    if (chain === null || sinceBlock === undefined || payment.kind !== 'authorization') return null;
    const { authorization } = payment;
    // Whoever settles it moves what was signed.
    if (BigInt(authorization.value) < BigInt(amount)) return null;
    const promised = { asset: this.#asset, payTo: payTo.toLowerCase() as Hex, authorization };
    try {
      const fate = await chain.readFate(promised, sinceBlock);
      const { network } = question.paymentRequirements;
      const response = { payer: authorization.from, network };
      if (fate.outcome === 'paid')
        return { outcome: 'settled', response: { ...response, success: true, transaction: fate.txHash } };
      if (fate.outcome === 'open') return null;
      const reason = `authorization_${fate.reason}`;
      const failed = { ...response, success: false, errorReason: reason, transaction: '' };
      return { outcome: 'failed', reason, response: failed };
    } catch (error) {
      onTrouble(error as Error);
      return null;
    }
  }

  get #asset(): Hex {
    return this.parts.question.paymentRequirements.asset.toLowerCase() as Hex;
  }
}

/** Whether a refusal leaves open what became of the payment. */
function isUncertain({ success, errorReason = '', transaction }: SettleResponse, knowsKey: boolean): boolean {
  if (success) return false;
  if (knowsKey) return errorReason === SETTLEMENT_PENDING;
  return (
    errorReason === '' || UNCERTAIN.test(errorReason) || (transaction === '' && FAILED_TRANSACTION.test(errorReason))
  );
}

/** An hour after the last moment of a payment, which may be far away. */
export function closesAtMsOf(payment: SignedPayment, keepMs: number): number {
  return Math.min(Number(validityOf(payment).validBefore) * 1000, Date.now() + keepMs) + AFTER_LAST_MOMENT_MS;
}

function withTerms(question: FacilitatorQuestion, { payTo, amount }: AskedTerms): FacilitatorQuestion {
  const { paymentRequirements: today } = question;
  const price = 'amount' in today ? { amount } : { maxAmountRequired: amount };
  return { ...question, paymentRequirements: { ...today, payTo, ...price } };
}
