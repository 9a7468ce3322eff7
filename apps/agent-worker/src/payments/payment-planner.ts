import { randomBytes } from 'node:crypto';

import {
  AgentKitError,
  createPaymentStep,
  draftPayment,
  parsePaymentInput,
  parseResourceUrl,
  type PaymentDraftContext,
  type PlanDraft,
} from '@tollgate/agent-kit/planner';
import { isCharge, isSignable, type Offers } from '@tollgate/client/internal';
import { createSafeFetch, type SafeFetch, type TargetRules } from '@tollgate/common';
import {
  crashPoint,
  type JobFailure,
  type JobRecord,
  type Journal,
  type JsonValue,
  type StepReceipt,
  type StepRecord,
  type StepVerdict,
} from '@tollgate/journal';
import type { PaymentRequirement } from '@tollgate/protocol';
import { StoreUnavailableError } from '@tollgate/redis';

import {
  findPaidChallenge,
  listChallenges,
  nameChallenge,
  parseKeptChallenge,
  writeChallenge,
  type KeptChallenge,
} from './kept-challenge.js';
import { NotNowError } from './not-now-error.js';
import { PriceQuestions } from './price-questions.js';
import { redeemJobPayment, Redemptions } from './redeem-job-payment.js';
import { Turns } from './turns.js';

/** Twice what the paying client reads of a whole answer; longer ones it passes on as they arrive. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
/** A reference has about 80 characters; the proof that carries it has to fit into a header. */
const MAX_REFERENCE_LENGTH = 512;
/** A challenge with less time to pay than this is refused. */
const MIN_TIMEOUT_SECONDS = 10;
/** A payment is signed only within the first third of the challenge's time, and within 100 s. */
const SIGN_WITHIN_SHARE = 1 / 3;
const SIGN_WITHIN_MS = 100_000;
/** A job whose payment could not be signed for this many challenges is given up. */
const MAX_CHALLENGES = 50;
const REDEMPTIONS = { total: 16, perOrigin: 4 };

/** The rules for allowed targets; they apply to every request. */
export interface PaymentPlannerOptions extends TargetRules {
  journal: Pick<Journal, 'putDetail' | 'readLane'>;
  /** The kit's view of the wallet's chain; called for each plan, since the chain may be down when the worker starts. */
  readContext: () => Promise<PaymentDraftContext>;
  /** Time limit for one price request; 10 s. */
  priceTimeoutMs?: number;
  /** How long a job waits for a server that returns no price; 10 min. */
  patienceMs?: number;
  /** From a payment's confirmation to its answer; 10 min. */
  redeemWithinMs?: number;
  /** One attempt to fetch the paid answer; 30 s. */
  attemptTimeoutMs?: number;
}

interface Terms {
  url: string;
  maxAmount: string | undefined;
  context: PaymentDraftContext;
}

/**
 * Plans and judges the jobs of operation `payment`: input `{url, maxAmount?}`, one step, for one wallet. Call `stop`
 * when done.
 */
export class PaymentPlanner {
  readonly #options: PaymentPlannerOptions;
  readonly #web: SafeFetch;
  readonly #questions: PriceQuestions;
  readonly #redemptions = new Redemptions();
  readonly #turns = new Turns(REDEMPTIONS);
  readonly #attemptTimeoutMs: number;

  constructor(options: PaymentPlannerOptions) {
    const { priceTimeoutMs = 10_000, patienceMs = 600_000, attemptTimeoutMs = 30_000 } = options;
    this.#options = options;
    this.#attemptTimeoutMs = attemptTimeoutMs;
    // Twice, because fetching a paid answer and reading it each get this time.
    const timeoutMs = 2 * Math.max(attemptTimeoutMs, priceTimeoutMs);
    this.#web = createSafeFetch({ ...options, timeoutMs, maxResponseBytes: MAX_ANSWER_BYTES });
    this.#questions = new PriceQuestions({ fetch: this.#web.fetch, timeoutMs: priceTimeoutMs, patienceMs });
  }

  /**
   * Requests the price and drafts the transfer that pays it; like every draft it must still pass the policy and the
   * simulation. When this resolves, the challenge that the transfer answers is stored in the job's details. Called
   * again before the signature, it drafts the same transfer while that challenge may be signed, and requests a new one
   * later; a receiver or an amount that was not approved then shows in `recipients` and `spends`.
   * @throws AgentKitError `NETWORK_ERROR`: try again later; any other: the job cannot be done
   */
  async plan(job: JobRecord, { token }: { token: number }): Promise<PlanDraft> {
    const terms = await this.#readTerms(job.input);
    const [newest] = listChallenges(job);
    if (newest && newest.challenge.url === terms.url && maySign(newest.challenge)) {
      return (await draft(terms, newest.challenge.requirement)).draft;
    }
    await this.#assertNewAllowed(job, newest?.number ?? 0);
    const fetchedAtMs = Date.now();
    const planned = await draft(terms, await this.#questions.ask(terms.url, job));
    const challenge: KeptChallenge = {
      url: terms.url,
      requirement: planned.requirement,
      fetchedAtMs,
      idempotencyKey: randomBytes(16).toString('hex'),
    };
    const kept = await this.#keep(job, token, (newest?.number ?? 0) + 1, challenge);
    // Another worker stored its challenge first: the journal keeps that one.
    if (kept.idempotencyKey !== challenge.idempotencyKey) return (await draft(terms, kept.requirement)).draft;
    return planned.draft;
  }

  /** Like `plan`, for a dry run: writes nothing. */
  async dryRun(input: JsonValue): Promise<PlanDraft> {
    const terms = await this.#readTerms(input);
    return (await draft(terms, await this.#questions.ask(terms.url, null))).draft;
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
    const redemption = this.#redemptions.look(job.id, (signal) => {
      crashPoint('F15');
      return redeemJobPayment(challenge, payment, this.#redemptionSettings(), signal);
    });
    if (!redemption) return { outcome: 'later' };
    if (redemption.outcome === 'unanswered') {
      this.#redemptions.forget(job.id);
      return { outcome: 'needs_operator', failure: redemption.failure };
    }
    crashPoint('F16');
    const value = { ...redemption.answer };
    const stored = await this.#options.journal.putDetail({ jobId: job.id, token, name: 'answer', value });
    if (stored === null) return { outcome: 'later' };
    this.#redemptions.forget(job.id);
    return { outcome: 'done' };
  }

  /** Aborts the background work. The process that judges the job next starts it again. */
  async stop(): Promise<void> {
    await this.#redemptions.stop();
    await this.#web.close();
  }

  #redemptionSettings() {
    const { allowPrivateTargets, redeemWithinMs = 600_000 } = this.#options;
    const { fetch } = this.#web;
    return { fetch, allowPrivateTargets, redeemWithinMs, attemptTimeoutMs: this.#attemptTimeoutMs, turns: this.#turns };
  }

  async #readTerms(input: JsonValue): Promise<Terms> {
    const { url, maxAmount } = parsePaymentInput(input);
    return {
      url: parseResourceUrl(url, this.#options.allowPrivateTargets),
      maxAmount,
      context: await this.#options.readContext(),
    };
  }

  /** Each challenge stays in the journal for good, so none is requested that will not be signed soon. */
  async #assertNewAllowed({ lane, state }: JobRecord, count: number): Promise<void> {
    if (count >= MAX_CHALLENGES) throw new AgentKitError('PAYMENT_FAILED', TOO_MANY_CHALLENGES);
    const { paused, frozen } = await this.#options.journal.readLane(lane).catch(askLater);
    if ((paused ?? frozen) === null || state === 'RESERVED') return;
    throw new NotNowError('The wallet sends nothing to the network now. The price is requested later.');
  }

  async #keep(job: JobRecord, token: number, number: number, challenge: KeptChallenge): Promise<KeptChallenge> {
    const value = writeChallenge(challenge);
    const detail = { jobId: job.id, token, name: nameChallenge(number), value };
    const stored = await this.#options.journal.putDetail(detail).catch(askLater);
    if (stored === null) throw new NotNowError('Another worker has taken over the lane of this wallet on the network.');
    return parseKeptChallenge(stored);
  }
}

async function draft(
  { url, maxAmount, context }: Terms,
  offered: Offers | PaymentRequirement,
): Promise<{ draft: PlanDraft; requirement: PaymentRequirement }> {
  const offers: Offers = 'accepts' in offered ? offered : { accepts: [offered] };
  const { draft, requirement } = await draftPayment({ request: { url }, offers, maxAmount }, context);
  if (isSignable(requirement) || isCharge(requirement)) throw refuse('no offer of x402 that a transfer pays');
  if (requirement.extra.reference.length > MAX_REFERENCE_LENGTH)
    throw refuse('a reference that is too long for a payment proof');
  if (requirement.maxTimeoutSeconds < MIN_TIMEOUT_SECONDS) throw refuse('too little time to pay');
  const steps = draft.spends.map((amount) => createPaymentStep(requirement, amount));
  return { draft: { ...draft, steps }, requirement };
}

function askLater(error: unknown): never {
  if (!(error instanceof StoreUnavailableError)) throw error;
  throw new NotNowError('The journal does not answer over the network now.');
}

function maySign({ fetchedAtMs, requirement }: KeptChallenge): boolean {
  const ageMs = Date.now() - fetchedAtMs;
  return ageMs >= 0 && ageMs < Math.min(requirement.maxTimeoutSeconds * 1000 * SIGN_WITHIN_SHARE, SIGN_WITHIN_MS);
}

function refuse(what: string): AgentKitError {
  return new AgentKitError('PAYMENT_FAILED', `The server's price has ${what}.`, {
    suggestion: 'Nothing was paid. Do not buy from this server.',
  });
}

const TOO_MANY_CHALLENGES = 'The payment could not be signed in time for several challenges of the server.';

const REVERTED: JobFailure = {
  code: 'TRANSACTION_REVERTED',
  message: 'The transfer was mined and reverted: nothing was paid.',
  suggestion: 'Look at the transaction, then submit the job again under a new idempotency key.',
};

const CHALLENGE_MISSING: JobFailure = {
  code: 'PAYMENT_NOT_ANSWERED',
  message: 'The payment is mined, but the journal does not have the challenge that it was made for.',
  suggestion: 'Ask the server for a refund, then abandon the job.',
};
