import { hash, randomBytes } from 'node:crypto';

import {
  AgentKitError,
  createPaymentStep,
  draftPayment,
  parsePaymentInput,
  parseResourceUrl,
  type PaymentDraft,
  type PaymentDraftContext,
  type PlanDraft,
} from '@tollgate/agent-kit/planner';
import type { Offer, SignableRequirement } from '@tollgate/client';
import { createPaymentToSign, isCharge, isSignable, type Offers } from '@tollgate/client/internal';
import { createSafeFetch, type SafeFetch, type TargetRules } from '@tollgate/http';
import { nextSignature, type JobRecord, type Journal, type JsonValue, type PlannedStep } from '@tollgate/journal';
import { signedMethodOf, type Hex } from '@tollgate/protocol';
import { StoreUnavailableError } from '@tollgate/redis';

import {
  listChallenges,
  nameChallenge,
  parseKeptChallenge,
  writeChallenge,
  type KeptChallenge,
} from './kept-challenge.js';
import { NotNowError } from './not-now-error.js';
import { PaymentAnswers } from './payment-answers.js';
import { PriceQuestions } from './price-questions.js';

/** Twice what the paying client reads of a whole answer; longer ones it passes on as they arrive. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
/** A reference has about 80 characters; the proof that carries it has to fit into a header. */
const MAX_REFERENCE_LENGTH = 512;
/** What a payment sends back of its challenge, except for a reference: the proof has to fit into a header, and stays in the journal. */
const MAX_OFFER_LENGTH = 8 * 1024;
/** A challenge with less time to pay than this is refused. */
const MIN_TIMEOUT_SECONDS = 10;
/** A payment is signed only within the first third of the challenge's time, and within 100 s. */
const SIGN_WITHIN_SHARE = 1 / 3;
const SIGN_WITHIN_MS = 100_000;
/** A job whose payment could not be signed for this many challenges is given up. */
const MAX_CHALLENGES = 50;

/** The rules for allowed targets; they apply to every request. */
export interface PaymentPlannerOptions extends TargetRules {
  journal: Pick<Journal, 'putDetail' | 'readLane'>;
  /** The kit's view of the wallet's chain; called for each plan, since the chain may be down when the worker starts. */
  readContext: () => Promise<PaymentDraftContext>;
  /** Time limit for one price request; 10 s. */
  priceTimeoutMs?: number;
  /** How long a job waits for a server that returns no price; 10 min. */
  patienceMs?: number;
  /** From a payment's confirmation, or its signature, to its answer; 10 min. */
  redeemWithinMs?: number;
  /** One attempt to fetch the paid answer; 30 s. */
  attemptTimeoutMs?: number;
}

interface Terms {
  url: string;
  maxAmount: string | undefined;
  context: PaymentDraftContext;
}

/** A payment's plan. `signature`: the step that pays where no transfer does; the draft has none for it. */
export interface PlannedPayment {
  draft: PlanDraft;
  signature: PlannedStep | null;
}

/**
 * Plans and judges the jobs of operation `payment`: input `{url, maxAmount?}`, for one wallet. Call `stop` when done.
 */
export class PaymentPlanner {
  readonly #options: PaymentPlannerOptions;
  readonly #web: SafeFetch;
  readonly #questions: PriceQuestions;
  /** Judges the payments once they are mined or signed. */
  readonly answers: PaymentAnswers;

  constructor(options: PaymentPlannerOptions) {
    const { priceTimeoutMs = 10_000, patienceMs = 600_000 } = options;
    const { attemptTimeoutMs = 30_000, redeemWithinMs = 600_000 } = options;
    this.#options = options;
    // Twice, because fetching a paid answer and reading it each get this time.
    const timeoutMs = 2 * Math.max(attemptTimeoutMs, priceTimeoutMs);
    this.#web = createSafeFetch({ ...options, timeoutMs, maxResponseBytes: MAX_ANSWER_BYTES });
    this.#questions = new PriceQuestions({ fetch: this.#web.fetch, timeoutMs: priceTimeoutMs, patienceMs });
    this.answers = new PaymentAnswers({
      ...options,
      attemptTimeoutMs,
      redeemWithinMs,
      fetch: this.#web.fetch,
      readClient: async () => (await options.readContext()).client,
    });
  }

  /**
   * Requests the price and drafts the transfer or the signature that pays it; like every draft it must still pass the
   * policy and the simulation. When this resolves, the challenge that it answers is stored in the job's details. Called
   * again before the signature, it drafts the same payment while that challenge may be signed, and requests a new one
   * later; a receiver or an amount that was not approved then shows in `recipients` and `spends`.
   * @throws AgentKitError `NETWORK_ERROR`: try again later; any other: the job cannot be done
   */
  async plan(job: JobRecord, { token }: { token: number }): Promise<PlannedPayment> {
    const terms = await this.#readTerms(job.input);
    const [newest] = listChallenges(job);
    const signature = nextSignature(job);
    const isForNext = newest?.challenge.url === terms.url && newest.challenge.signature === signature;
    if (newest && isForNext && maySign(newest.challenge)) {
      return planFor(job, await draft(terms, newest.challenge.requirement));
    }
    await this.#assertNewAllowed(job, newest?.number ?? 0);
    const fetchedAtMs = Date.now();
    const planned = await draft(terms, await this.#questions.ask(terms.url, job));
    const challenge: KeptChallenge = {
      url: terms.url,
      requirement: planned.requirement,
      fetchedAtMs,
      idempotencyKey: randomBytes(16).toString('hex'),
      signature,
    };
    const kept = await this.#keep(job, token, (newest?.number ?? 0) + 1, challenge);
    // Another worker stored its challenge first: the journal keeps that one.
    const isOwn = kept.idempotencyKey === challenge.idempotencyKey;
    return planFor(job, isOwn ? planned : await draft(terms, kept.requirement));
  }

  /** Like `plan`, for a dry run: writes nothing. */
  async dryRun(input: JsonValue): Promise<PlanDraft> {
    const terms = await this.#readTerms(input);
    return (await draft(terms, await this.#questions.ask(terms.url, null))).draft;
  }

  /** Aborts the background work. The process that plans or judges the job next starts it again. */
  async stop(): Promise<void> {
    await this.answers.stop();
    await this.#web.close();
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

async function draft({ url, maxAmount, context }: Terms, offered: Offers | Offer): Promise<PaymentDraft> {
  const offers: Offers = 'accepts' in offered ? offered : { accepts: [offered] };
  const { draft, requirement } = await draftPayment({ request: { url }, offers, maxAmount }, context);
  if (requirement.maxTimeoutSeconds < MIN_TIMEOUT_SECONDS) throw refuse('too little time to pay');
  const sendsBack = isSignable(requirement) || isCharge(requirement);
  if (sendsBack && JSON.stringify(requirement).length > MAX_OFFER_LENGTH)
    throw refuse('terms that are too long for a payment proof');
  if (isSignable(requirement)) return { draft, requirement };
  if (requirement.extra.reference.length > MAX_REFERENCE_LENGTH)
    throw refuse('a reference that is too long for a payment proof');
  const steps = [createPaymentStep(requirement, draft.payment.amount)];
  return { draft: { ...draft, steps }, requirement };
}

function planFor(job: JobRecord, { draft, requirement }: PaymentDraft): PlannedPayment {
  return { draft, signature: isSignable(requirement) ? createSignatureStep(job, draft, requirement) : null };
}

function createSignatureStep(
  job: JobRecord,
  { summary }: PaymentDraft['draft'],
  requirement: SignableRequirement,
): PlannedStep {
  const signs = createPaymentToSign(requirement, job.lane.address, nonceFor(job));
  const to = signedMethodOf(signs).spender ?? requirement.asset;
  return { label: summary, to, data: '0x', value: 0n, gas: 0n, signs };
}

/**
 * The same for every signature of this number: if Redis lost one that had left, the chain takes only one of the two.
 * The id of a job is unique, so no other payment has this nonce.
 */
function nonceFor(job: JobRecord): Hex {
  return `0x${hash('sha256', `${job.id}/${job.stepIndex}/${nextSignature(job)}`, 'hex')}`;
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
