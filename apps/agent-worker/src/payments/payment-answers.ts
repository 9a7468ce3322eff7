import { setTimeout as sleep } from 'node:timers/promises';

import { readPaymentState } from '@tollgate/client/internal';
import type { SafeFetch } from '@tollgate/http';
import {
  crashPoint,
  type JobFailure,
  type JobRecord,
  type Journal,
  type SignatureVerdict,
  type SignedStep,
  type StepReceipt,
  type StepRecord,
  type StepVerdict,
} from '@tollgate/journal';
import { endOfPayment, withSignature, type Hex } from '@tollgate/protocol';
import type { PublicClient } from 'viem';

import { findPaidChallenge, findSignedChallenge } from './kept-challenge.js';
import {
  redeemJobPayment,
  Redemptions,
  type JobPayment,
  type JobRedemption,
  type RedemptionSettings,
} from './redeem-job-payment.js';
import { Turns } from './turns.js';

const LIMITS = { total: 16, perOrigin: 4 };
/** More, since a signature does not wait: it must be presented before its end, often a minute later. */
const SIGNED_LIMITS = { total: 32, perOrigin: 8 };

type Outcome = JobRedemption | { outcome: 'void' };

export interface PaymentAnswersOptions extends Omit<RedemptionSettings, 'turns' | 'fetch'> {
  fetch: SafeFetch['fetch'];
  journal: Pick<Journal, 'putDetail'>;
  /** Of the wallet's chain; called where needed, since the chain may be down. */
  readClient: () => Promise<PublicClient>;
  /** Between two looks for the final block that decides; 2 s. */
  lookEveryMs?: number;
}

/** Fetches what the payments of a wallet's jobs have bought. Call `stop` when done. */
export class PaymentAnswers {
  readonly #options: PaymentAnswersOptions;
  readonly #mined: RedemptionSettings;
  readonly #signed: RedemptionSettings;
  readonly #redemptions = new Redemptions<Outcome>();

  constructor(options: PaymentAnswersOptions) {
    this.#options = options;
    const present = async (...request: Parameters<typeof fetch>): Promise<Response> => {
      const response = await options.fetch(...request);
      crashPoint('F17');
      return response;
    };
    this.#mined = { ...options, fetch: present, turns: new Turns(LIMITS) };
    this.#signed = { ...this.#mined, turns: new Turns(SIGNED_LIMITS) };
  }

  /** Done when the paid answer is in the job's details; fetches it in the background meanwhile. */
  async judge(
    job: JobRecord,
    step: StepRecord,
    receipt: StepReceipt,
    { token }: { token: number },
  ): Promise<StepVerdict> {
    if (receipt.status === 'reverted') return { outcome: 'failed', failure: REVERTED };
    if (job.details['answer'] !== undefined) return { outcome: 'done' };
    const challenge = findPaidChallenge(job, step);
    if (!challenge) return { outcome: 'needs_operator', failure: CHALLENGE_MISSING };
    const payment = { txHash: receipt.transactionHash, payer: job.lane.address };
    const verdict = await this.#look(job, token, payment.txHash, (signal) =>
      redeemJobPayment(challenge, payment, this.#mined, signal),
    );
    // A mined transfer has moved the money.
    return verdict.outcome === 'void' ? { outcome: 'later' } : verdict;
  }

  /**
   * As `judge`, for a payment that is signed. It is presented with the same bytes each time, and is void only where a
   * final block shows that.
   */
  async judgeSignature(job: JobRecord, step: SignedStep, { token }: { token: number }): Promise<SignatureVerdict> {
    if (job.details['answer'] !== undefined) return { outcome: 'done' };
    const challenge = findSignedChallenge(job, step);
    if (!challenge) return { outcome: 'needs_operator', failure: CHALLENGE_MISSING };
    const payment = { authorization: withSignature(step.signs, step.signature.bytes), payer: job.lane.address };
    const endsAtMs = endOfPayment(step.signs) * 1000;
    return this.#look(job, token, step.signature.bytes, async (signal) => {
      const state = await this.#awaitState(step, endsAtMs, signal);
      if (state === 'void') return { outcome: 'void' };
      const paid: JobPayment = state === 'used' ? payment : { ...payment, endsAtMs };
      return redeemJobPayment(challenge, paid, this.#signed, signal);
    });
  }

  /** Aborts the background work. The process that judges the job next starts it again. */
  stop(): Promise<void> {
    return this.#redemptions.stop();
  }

  /**
   * What the chain shows of the signature. After its end it is not presented before that is known, since a payment that
   * was not used is void then; where the chain does not answer for long it is, which can be repeated.
   */
  async #awaitState({ signs }: SignedStep, endsAtMs: number, signal: AbortSignal): Promise<'open' | 'used' | 'void'> {
    const { readClient, redeemWithinMs, lookEveryMs = 2_000 } = this.#options;
    const giveUpMs = performance.now() + redeemWithinMs;
    for (;;) {
      const reading = readClient().then((client) => readPaymentState(client, signs));
      const state = await reading.catch(() => 'open' as const);
      if (state !== 'open' || Date.now() < endsAtMs || performance.now() > giveUpMs) return state;
      await sleep(lookEveryMs, undefined, { signal });
    }
  }

  /** @param paidBy the signature or hash of the payment: while another worker had the lane, the job may have signed anew */
  async #look(
    job: JobRecord,
    token: number,
    paidBy: Hex,
    begin: (signal: AbortSignal) => Promise<Outcome>,
  ): Promise<SignatureVerdict> {
    const result = this.#redemptions.look(paidBy, (signal) => {
      crashPoint('F15');
      return begin(signal);
    });
    if (!result) return { outcome: 'later' };
    if (result.outcome === 'answered') {
      crashPoint('F16');
      const value = { ...result.answer };
      const stored = await this.#options.journal.putDetail({ jobId: job.id, token, name: 'answer', value });
      if (stored === null) return { outcome: 'later' };
    }
    this.#redemptions.forget(paidBy);
    if (result.outcome === 'unanswered') return { outcome: 'needs_operator', failure: result.failure };
    return result.outcome === 'void' ? { outcome: 'void' } : { outcome: 'done' };
  }
}

const REVERTED: JobFailure = {
  code: 'TRANSACTION_REVERTED',
  message: 'The transfer was mined and reverted: nothing was paid.',
  suggestion: 'Look at the transaction, then submit the job again under a new idempotency key.',
};

const CHALLENGE_MISSING: JobFailure = {
  code: 'PAYMENT_NOT_ANSWERED',
  message: 'The payment is made, but the journal does not have the challenge that it was made for.',
  suggestion: 'Ask the server for a refund, then abandon the job.',
};
