import {
  NoReplyError,
  QueueFullError,
  SETTLE_SIGNED_PAYMENT,
  VERIFY_SIGNED_PAYMENT,
  type PaymentTrial,
  type SettlementResult,
  type SettleSignedPaymentRequest,
  type SignedPaymentTerms,
  type SignedPaymentVerdict,
  type VerifySignedPaymentRequest,
} from '@tollgate/common';
import { createOwner, LedgerUnavailableError, signedPaymentId, type Ledger } from '@tollgate/ledger';
import type { SignedPayment } from '@tollgate/protocol';

import { clientNetwork } from '../server/client-network.js';
import type { Verifiers } from '../verifiers/agreeing-verifiers.js';

export interface SignedPaymentSettings {
  readonly verifyDeadlineMs: number;
  readonly verifyRetryMs: number;
  readonly settleDeadlineMs: number;
  readonly leaseMs: number;
}

export interface SignedPaymentParts {
  readonly ledger: Ledger;
  readonly verifier: Verifiers;
  readonly settler: Verifiers;
}

/** One signed payment, and who asks for it. */
export interface SignedPaymentQuestion {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly terms: SignedPaymentTerms;
  readonly payment: SignedPayment;
}

/** Under what a payment is claimed. */
export interface ClaimKeys {
  readonly fingerprint: string;
  /** Hash of what only the payer knows; null where a repeat cannot be told from a thief. */
  readonly retryKey: string | null;
}

/** How long an answer may be under way after its deadline. */
const REPLY_SLACK_MS = 500;

/** Has signed payments looked at, claimed and settled by other processes. Never throws. */
export class SignedPayments {
  constructor(
    private readonly parts: SignedPaymentParts,
    private readonly settings: SignedPaymentSettings,
  ) {}

  /** Whether the payment is good, and has bought nothing yet; nothing is claimed. */
  async look(question: SignedPaymentQuestion): Promise<SignedPaymentVerdict> {
    const verdict = await this.#ask({ ...this.#createQuestion(question), claim: null });
    // What nobody has moved has bought nothing.
    if (verdict.outcome !== 'valid' || verdict.txHash === null) return verdict;
    try {
      const isSpent = await this.parts.ledger.isSpent(signedPaymentId(question.terms, question.payment));
      return isSpent ? { outcome: 'refused', failure: 'payment_used', payer: verdict.payer } : verdict;
    } catch (error) {
      return { outcome: 'unavailable', reason: reasonOf(error) };
    }
  }

  /** Claims the payment for this one request. */
  async claim(question: SignedPaymentQuestion, keys: ClaimKeys): Promise<SignedPaymentVerdict> {
    const owner = createOwner();
    const claim = { owner, ...keys, leaseMs: this.settings.leaseMs };
    const verdict = await this.#ask({ ...this.#createQuestion(question), claim });
    // A verifier may have claimed it and its reply was lost: nobody will use that claim.
    if (verdict.outcome === 'unavailable') await this.#giveUp(question, owner);
    return verdict;
  }

  /** Has a claimed payment moved. What is not known to have failed is `pending`, or `unavailable` where nobody was reached. */
  async settle(
    { terms, payment, requestId }: SignedPaymentQuestion,
    amountBaseUnits: string,
    trial?: PaymentTrial,
  ): Promise<SettlementResult> {
    const { settleDeadlineMs } = this.settings;
    const { ledger, settler } = this.parts;
    const request: SettleSignedPaymentRequest = {
      requestId,
      deadlineMs: ledger.nowMs() + settleDeadlineMs,
      terms,
      payment,
      amountBaseUnits,
      ...(trial && { trial }),
    };
    try {
      return await settler.ask<SettlementResult, SettleSignedPaymentRequest>(SETTLE_SIGNED_PAYMENT, request, {
        timeoutMs: settleDeadlineMs + REPLY_SLACK_MS,
        retryAfterMs: Math.ceil(settleDeadlineMs / 2),
        isTakenBack: true,
        requestId,
      });
    } catch (error) {
      if (error instanceof QueueFullError) return { outcome: 'unavailable', reason: error.code };
      // No relayer is there to take it on.
      if (error instanceof NoReplyError && error.isUntaken) return { outcome: 'unavailable', reason: 'no_relayer' };
      // It may have been taken on by a process that cannot say so.
      return { outcome: 'pending', txHash: null };
    }
  }

  #createQuestion(question: SignedPaymentQuestion): Omit<VerifySignedPaymentRequest, 'claim'> {
    const { requestId, clientAddress, terms, payment } = question;
    const deadlineMs = this.parts.ledger.nowMs() + this.settings.verifyDeadlineMs;
    return { requestId, deadlineMs, terms, payment, clientAddress: clientNetwork(clientAddress) };
  }

  async #ask(request: VerifySignedPaymentRequest): Promise<SignedPaymentVerdict> {
    const { verifyDeadlineMs: timeoutMs, verifyRetryMs: retryAfterMs } = this.settings;
    try {
      return await this.parts.verifier.ask<SignedPaymentVerdict, VerifySignedPaymentRequest>(
        VERIFY_SIGNED_PAYMENT,
        request,
        { timeoutMs, retryAfterMs, requestId: request.requestId },
      );
    } catch (error) {
      return { outcome: 'unavailable', reason: reasonOf(error) };
    }
  }

  async #giveUp({ terms, payment }: SignedPaymentQuestion, owner: string): Promise<void> {
    // The claim's own deadline and the end of its lease do the same, later.
    await this.parts.ledger.releaseOwner(signedPaymentId(terms, payment), owner).catch(() => undefined);
  }
}

/** Why a payment cannot be looked at now, in a word where it is a usual one. */
export function reasonOf(error: unknown): string {
  if (error instanceof QueueFullError || error instanceof NoReplyError) return error.code;
  if (error instanceof LedgerUnavailableError) return 'ledger_unavailable';
  return error instanceof Error ? error.message : String(error);
}
