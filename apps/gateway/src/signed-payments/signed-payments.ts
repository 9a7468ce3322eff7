import { clientNetwork } from '@tollgate/http';
import { createOwner, signedPaymentId, type Ledger } from '@tollgate/ledger';
import { schemeOf, type SignedPayment } from '@tollgate/protocol';
import { StoreUnavailableError } from '@tollgate/redis';
import {
  NoReplyError,
  type PaymentSimulation,
  QueueFullError,
  SETTLE_SIGNED_PAYMENT,
  type SettlementResult,
  type SettleSignedPaymentRequest,
  type SignedPaymentTerms,
  type SignedPaymentVerdict,
  VERIFY_SIGNED_PAYMENT,
  type VerifySignedPaymentRequest,
} from '@tollgate/transport';

import type { Settlers, Verifiers } from '../verifiers/agreeing-verifiers.js';

export interface SignedPaymentSettings {
  readonly verifyDeadlineMs: number;
  readonly verifyRetryMs: number;
  readonly settleDeadlineMs: number;
  readonly leaseMs: number;
}

export interface SignedPaymentParts {
  readonly ledger: Ledger;
  readonly verifier: Verifiers;
  readonly settler: Settlers;
}

/** A signed payment, and the request that presents it. */
export interface SignedPaymentQuestion {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly terms: SignedPaymentTerms;
  readonly payment: SignedPayment;
  /** How long it must stay valid while its money has not moved, if that is longer than a settlement usually takes. */
  readonly validForMs?: number | undefined;
}

/** The keys under which a payment is claimed. */
export interface ClaimKeys {
  readonly fingerprint: string;
  /** Hash of a value that only the payer knows; null where a repeat cannot be distinguished from a stolen payment. */
  readonly retryKey: string | null;
  /** Claimed only if its money has moved; where it may still be moving, the payment is busy. */
  readonly mustBeSettled?: true;
}

/** How long a reply may take to arrive after its deadline. */
const REPLY_SLACK_MS = 500;

/** Has signed payments verified, claimed and settled by the verifier processes. Never throws. */
export class SignedPayments {
  constructor(
    private readonly parts: SignedPaymentParts,
    private readonly settings: SignedPaymentSettings,
  ) {}

  /** Verifies the payment and that it is unspent, without claiming it. */
  async look(question: SignedPaymentQuestion): Promise<SignedPaymentVerdict> {
    const verdict = await this.#ask({ ...this.#createQuestion(question), claim: null });
    // An unsettled payment cannot have been spent.
    if (verdict.outcome !== 'valid' || verdict.txHash === null) return verdict;
    try {
      const failure = await this.parts.ledger.whySpent(signedPaymentId(question.terms, question.payment));
      return failure === null ? verdict : { outcome: 'refused', failure, payer: verdict.payer };
    } catch (error) {
      return { outcome: 'unavailable', reason: reasonOf(error) };
    }
  }

  /** Verifies the payment and claims it for this request. */
  async claim(question: SignedPaymentQuestion, keys: ClaimKeys): Promise<SignedPaymentVerdict> {
    const owner = createOwner();
    const claim = { owner, ...keys, leaseMs: this.settings.leaseMs };
    const verdict = await this.#ask({ ...this.#createQuestion(question), claim });
    // Releases the claim of a verifier whose reply was lost: no request would use it.
    if (verdict.outcome === 'unavailable') await this.#giveUp(question, owner);
    return verdict;
  }

  /**
   * Settles a claimed payment. Unless it is known to have failed or settled, the result is `pending`, or `unavailable`
   * if no settler was reached.
   */
  async settle(
    { terms, payment, requestId }: SignedPaymentQuestion,
    amountBaseUnits: string,
    simulation?: PaymentSimulation,
  ): Promise<SettlementResult> {
    const { settleDeadlineMs } = this.settings;
    const { ledger, settler } = this.parts;
    const request: SettleSignedPaymentRequest = {
      requestId,
      deadlineMs: ledger.nowMs() + settleDeadlineMs,
      terms,
      payment,
      amountBaseUnits,
      ...(simulation && { simulation }),
    };
    try {
      return await settler.ask(SETTLE_SIGNED_PAYMENT, request, {
        timeoutMs: settleDeadlineMs + REPLY_SLACK_MS,
        retryAfterMs: Math.ceil(settleDeadlineMs / 2),
        isTakenBack: true,
        requestId,
      });
    } catch (error) {
      if (error instanceof QueueFullError) return { outcome: 'unavailable', reason: error.code };
      // No relayer took the request.
      if (error instanceof NoReplyError && error.isUntaken) return { outcome: 'unavailable', reason: 'no_relayer' };
      // A process may have taken the request and be unable to reply.
      return { outcome: 'pending', txHash: null };
    }
  }

  #createQuestion(question: SignedPaymentQuestion): Omit<VerifySignedPaymentRequest, 'claim'> {
    const { requestId, clientAddress, terms, payment, validForMs } = question;
    const deadlineMs = this.parts.ledger.nowMs() + this.settings.verifyDeadlineMs;
    return {
      requestId,
      deadlineMs,
      terms,
      payment,
      clientAddress: clientNetwork(clientAddress),
      ...(validForMs !== undefined && { validForMs }),
    };
  }

  async #ask(request: VerifySignedPaymentRequest): Promise<SignedPaymentVerdict> {
    const { verifyDeadlineMs: timeoutMs, verifyRetryMs: retryAfterMs } = this.settings;
    try {
      return await this.parts.verifier.ask(VERIFY_SIGNED_PAYMENT, request, {
        timeoutMs,
        retryAfterMs,
        requestId: request.requestId,
      });
    } catch (error) {
      return { outcome: 'unavailable', reason: reasonOf(error) };
    }
  }

  async #giveUp({ terms, payment }: SignedPaymentQuestion, owner: string): Promise<void> {
    // If this fails, the claim's deadline and the end of its lease release it later.
    await this.parts.ledger.releaseOwner(signedPaymentId(terms, payment), owner).catch(() => undefined);
  }
}

/** Whether the payer signed for a maximum (scheme `upto`) and is charged what the response costs. */
export function isMetered(payment: SignedPayment | { readonly kind: 'transaction' }): boolean {
  return payment.kind !== 'transaction' && schemeOf(payment) === 'upto';
}

/** Why a payment cannot be verified now: a code for the usual reasons, otherwise the error's message. */
export function reasonOf(error: unknown): string {
  if (error instanceof QueueFullError || error instanceof NoReplyError) return error.code;
  if (error instanceof StoreUnavailableError) return 'ledger_unavailable';
  return error instanceof Error ? error.message : String(error);
}
