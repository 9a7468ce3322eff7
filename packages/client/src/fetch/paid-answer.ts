import { IDEMPOTENCY_KEY, PaymentError, X_PAYMENT_FAILURE } from '@tollgate/protocol';

import { assertSecureUrl } from '../network/assert-secure-url.js';
import type { RequestSnapshot } from '../network/request-snapshot.js';
import { sleep } from '../network/sleep.js';
import { readChallengeError } from '../offer/read-challenge.js';
import type { PaymentContext } from '../sign/payment-options.js';
import type { ShownPayment, SignedName } from './create-payment-headers.js';
import { judgeResponse, type Judgement } from './judge-response.js';
import { PaymentNotAcceptedError } from './payment-not-accepted-error.js';
import { findSoldTarget, receiveAnswer, sendRequest, type SentRequest, type SoldTarget } from './send-request.js';
import { TrySpacing } from './try-spacing.js';

const MAX_REDIRECTS = 5;
const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5000;
/** With one of these the target of a redirect asks for another request. */
const UNDECIDED_STATUSES = [408, 425, 429];

/** The parts of a client that redeeming needs. */
export interface RedemptionContext extends Pick<
  PaymentContext,
  'fetch' | 'attemptTimeoutMs' | 'allowInsecureHttp' | 'onEvent'
> {
  /**
   * Runs an attempt when it may begin, which lets a caller limit concurrent attempts. The deadline does not include the
   * wait.
   */
  inTurn?: <T>(attempt: () => Promise<T>) => Promise<T>;
}

function createHeaders(request: RequestSnapshot, { header, idempotencyKey, signed }: ShownPayment): Headers {
  const headers = new Headers(request.headers);
  // The payment was made for a request without them.
  if (header.name === 'Authorization' && headers.has(header.name)) {
    throw new PaymentError(
      'payment_unredeemed',
      `The payment of ${request.url} goes into \`Authorization\`, where the request has other credentials.`,
      {
        hint: 'It is in the store: the same request without these credentials redeems it.',
        details: { ...signed, url: request.url },
      },
    );
  }
  headers.set(header.name, header.value);
  headers.set(IDEMPOTENCY_KEY, idempotencyKey);
  // As in the reference client. With a method that has a body, this header would make servers expect JSON in the body.
  if (request.method === 'GET' && !headers.has('content-type')) headers.set('Content-Type', 'application/json');
  return headers;
}

/**
 * The redirect to follow with the proof: only within the origin that was paid, and only for methods that are safe to
 * repeat.
 */
function followRedirect(request: RequestSnapshot, from: string, location: string | null, count: number): string {
  const target = location === null ? null : new URL(location, from);
  const isSafeMethod = request.method === 'GET' || request.method === 'HEAD';
  if (target?.origin === new URL(request.url).origin && isSafeMethod && count <= MAX_REDIRECTS) return target.href;
  throw new PaymentError(
    'redirect_refused',
    `The server redirects the paid request to ${target?.href ?? 'elsewhere'}.`,
    {
      hint: 'The proof is not sent on; the payment stays in the store.',
      details: { from, location },
    },
  );
}

type Retry = Extract<Judgement, { kind: 'retry' }>;

/** The result of one attempt: an answer to return, or a reason to try again. */
type Attempt =
  | ({ kind: 'answer' } & ReceivedResponse)
  | ({ kind: 'again'; response: Response | null; cause?: unknown } & Pick<Retry, 'reason' | 'delayMs' | 'uses'>);

class Redemption {
  readonly #headers: Headers;
  readonly #signed: SignedName;
  readonly #seen = { nowMs: 0, undiagnosed: 0 };
  #redirects = 0;
  #isRepeated = false;
  #url: string;

  constructor(
    private readonly context: RedemptionContext,
    private readonly key: string,
    private readonly request: RequestSnapshot,
    payment: ShownPayment,
  ) {
    this.#headers = createHeaders(request, payment);
    this.#signed = payment.signed;
    this.#url = request.url;
  }

  async attempt(timeoutMs: number): Promise<Attempt> {
    try {
      const sending = { url: this.#url, headers: this.#headers, timeoutMs, redirect: 'manual' } as const;
      const sent = await sendRequest(this.context.fetch, this.request, sending);
      try {
        return await this.#judge(sent, timeoutMs);
      } finally {
        sent.stopTimer();
      }
    } catch (error) {
      if (error instanceof PaymentError || this.request.signal?.aborted) throw error;
      const reason = error instanceof Error ? error.message : 'connection failed';
      return { kind: 'again', reason, delayMs: null, uses: null, response: null, cause: error };
    }
  }

  async #judge(sent: SentRequest, timeoutMs: number): Promise<Attempt> {
    const { response } = sent;
    this.#seen.nowMs = Date.now();
    const judgement = judgeResponse(response, this.#seen);
    switch (judgement.kind) {
      case 'answer':
        return { kind: 'answer', ...(await this.#receive(sent, judgement.isFinal, timeoutMs)) };
      case 'refused':
        throw await this.refusal(response);
      case 'redirect':
        await response.body?.cancel();
        // A redirect that a transaction hash has bought cannot be told from another before the server repeats it.
        if ('txHash' in this.#signed && !this.#isRepeated) {
          this.#isRepeated = true;
          return { kind: 'again', reason: `redirect from ${this.#url}`, delayMs: 0, uses: null, response: null };
        }
        this.#redirects += 1;
        this.#url = followRedirect(this.request, this.#url, judgement.location, this.#redirects);
        return { kind: 'again', reason: `redirect to ${this.#url}`, delayMs: 0, uses: null, response: null };
      case 'retry':
        if (response.status === 402) this.#seen.undiagnosed += 1;
        return { ...judgement, kind: 'again', response };
    }
  }

  /**
   * A sold redirect leads a caller that follows redirects to its target, which is asked without the proof. While the
   * target cannot be reached the caller gets the redirect itself, and may ask for it again.
   */
  async #receive(sent: SentRequest, isFinal: boolean, timeoutMs: number): Promise<ReceivedResponse> {
    const { response } = sent;
    const isWhole = await receiveAnswer(response);
    const target = isFinal ? findSoldTarget(this.request, response, this.#url) : null;
    if (target === null) return { response, isFinal, isWhole };
    // It would end the body of the redirect while the target is asked.
    sent.stopTimer();
    const found = await this.#fetchTarget(target, timeoutMs).catch(() => null);
    this.request.signal?.throwIfAborted();
    return found ?? { response, isFinal: false, isWhole };
  }

  async #fetchTarget(target: SoldTarget, timeoutMs: number): Promise<ReceivedResponse> {
    const sending = { ...target, timeoutMs, redirect: 'follow' } as const;
    const { response, stopTimer } = await sendRequest(this.context.fetch, target.request, sending);
    try {
      const isFinal = response.status < 500 && !UNDECIDED_STATUSES.includes(response.status);
      return { response, isFinal, isWhole: await receiveAnswer(response) };
    } finally {
      stopTimer();
    }
  }

  async refusal(response: Response): Promise<PaymentNotAcceptedError> {
    return new PaymentNotAcceptedError({
      failure: response.headers.get(X_PAYMENT_FAILURE),
      challengeError: await readChallengeError(response, this.context.attemptTimeoutMs),
      signed: this.#signed,
      url: this.#url,
      key: this.key,
    });
  }

  unanswered(cause: unknown): PaymentError {
    const message = `The payment ${'txHash' in this.#signed ? this.#signed.txHash : 'that was signed'} is made, but ${this.#url} gave no answer.`;
    return new PaymentError('payment_unredeemed', message, {
      hint: 'It is in the store: the same request with the same store redeems it.',
      details: { ...this.#signed, url: this.#url, key: this.key },
      cause,
    });
  }
}

/** The answer to a request with a proof. */
export interface PaidResponse {
  response: Response;
  /**
   * True when the server's answer to this payment is final. Otherwise it failed, and the payment may be presented
   * again.
   */
  isFinal: boolean;
}

interface ReceivedResponse extends PaidResponse {
  /** True when the whole body is in memory; otherwise it is still to arrive. */
  isWhole: boolean;
}

/**
 * Sends the request with the proof until the whole answer is there, with the same proof and key every time.
 * @returns the answer; at the deadline the server's last one, whatever it was.
 * @throws PaymentNotAcceptedError when the server refuses the payment; PaymentError `redirect_refused`, or
 * `payment_unredeemed` when no answer came before the deadline.
 */
export async function fetchPaidAnswer(
  context: RedemptionContext,
  input: { key: string; request: RequestSnapshot; payment: ShownPayment; deadlineAtMs: number },
): Promise<ReceivedResponse> {
  const { key, request, payment } = input;
  const { inTurn = (attempt) => attempt() } = context;
  let { deadlineAtMs } = input;
  assertSecureUrl(request.url, context.allowInsecureHttp);
  const redemption = new Redemption(context, key, request, payment);
  const spacing = new TrySpacing(deadlineAtMs - Date.now());
  for (let backoffMs = FIRST_DELAY_MS; ; backoffMs = Math.min(backoffMs * 2, LONGEST_DELAY_MS)) {
    request.signal?.throwIfAborted();
    const waitsSinceMs = Date.now();
    const attempt = await inTurn(() => {
      // Waiting for a turn does not count against the server.
      deadlineAtMs += Date.now() - waitsSinceMs;
      const leftMs = Math.max(deadlineAtMs - Date.now(), 1);
      return redemption.attempt(Math.min(context.attemptTimeoutMs, leftMs));
    });
    const { response } = attempt;
    if (attempt.kind === 'answer') return attempt;
    const delayMs = spacing.delayMs(attempt.delayMs ?? backoffMs, attempt.uses);
    if (Date.now() + delayMs >= deadlineAtMs) {
      if (!response) throw redemption.unanswered(attempt.cause);
      if (response.status === 402) throw await redemption.refusal(response);
      return { response, isFinal: false, isWhole: false };
    }
    await response?.body?.cancel();
    context.onEvent({ type: 'waiting', key, reason: attempt.reason, delayMs });
    await sleep(delayMs, request.signal);
  }
}
