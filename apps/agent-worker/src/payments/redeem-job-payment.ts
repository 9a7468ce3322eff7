import { cleanUntrusted, quoteUntrusted, readFirstBytes } from '@tollgate/agent-kit/planner';
import { PaymentNotAcceptedError } from '@tollgate/client';
import { redeemPaidRequest, showPayment, type PaidResponse } from '@tollgate/client/internal';
import type { JobFailure } from '@tollgate/journal';
import {
  PaymentError,
  X_PAYMENT_RELEASED,
  type AgentAnswerView,
  type Hex,
  type SignedPayment,
} from '@tollgate/protocol';

import type { KeptChallenge } from './kept-challenge.js';
import type { Turns } from './turns.js';

export interface RedemptionSettings {
  fetch: typeof globalThis.fetch;
  /** From the first attempt to the answer, waiting for a turn not included. */
  redeemWithinMs: number;
  /** One attempt, including the reading of its response. */
  attemptTimeoutMs: number;
  allowPrivateTargets: boolean;
  turns: Turns;
}

/** The bytes that are kept of an answer. A wallet keeps up to 20,000 ended jobs in Redis for a week. */
const MAX_KEPT_BYTES = 64 * 1024;
/** Control characters that text does not need; JSON writes most of them with six bytes. */
const CONTROL = /[\0-\x08\v\x0e-\x1f]/;

/** The outcome of redeeming. `unanswered`: the payment is made, and nothing was served for it. */
export type JobRedemption =
  | { outcome: 'answered'; answer: AgentAnswerView }
  | { outcome: 'unanswered'; failure: JobFailure };

/** What pays a challenge: a mined transfer, or a signature. `endsAtMs`: until then the signature can be used; missing: it is. */
export type JobPayment = { payer: Hex } & (
  | { txHash: Hex; authorization?: never; endsAtMs?: never }
  | { authorization: SignedPayment; endsAtMs?: number; txHash?: never }
);

/**
 * Presents a payment to the server that requested it, until there is an answer. It may be repeated, by another
 * process too: the same proof and the same idempotency key bring the same answer.
 * @throws the signal's reason when it is aborted
 */
export async function redeemJobPayment(
  challenge: KeptChallenge,
  paid: JobPayment,
  settings: RedemptionSettings,
  signal: AbortSignal,
): Promise<JobRedemption> {
  const { url, requirement, idempotencyKey } = challenge;
  const { payer, txHash, authorization = null, endsAtMs } = paid;
  const transaction = txHash === undefined ? null : { txHash };
  const payment = { method: 'GET', url, requirement, idempotencyKey, payer, transaction, authorization };
  // A server cannot settle the signature after its end. For one settled just before, the answer gets one attempt's time.
  const leftMs = endsAtMs === undefined ? Infinity : Math.max(endsAtMs - Date.now(), 0) + settings.attemptTimeoutMs;
  const ask = () =>
    redeemPaidRequest(payment, {
      fetch: settings.fetch,
      deadlineMs: Math.min(settings.redeemWithinMs, leftMs),
      attemptTimeoutMs: settings.attemptTimeoutMs,
      allowInsecureHttp: settings.allowPrivateTargets,
      inTurn: (attempt) => settings.turns.run(new URL(url).origin, signal, attempt),
      signal,
    });
  const unanswered = (reason: string): JobRedemption => ({
    outcome: 'unanswered',
    failure: createFailure(hideProof(reason, payment), endsAtMs),
  });
  try {
    const response = await askOnceMore(await ask(), ask);
    const redemption = await readResponse(response, settings.attemptTimeoutMs, unanswered);
    // An aborted read looks like a short answer.
    signal.throwIfAborted();
    return redemption;
  } catch (error) {
    signal.throwIfAborted();
    return unanswered(describe(error));
  }
}

/**
 * A server that charges for a failure returns the same failure again; where it has released the payment, nothing is
 * charged.
 */
async function askOnceMore(first: PaidResponse, ask: () => Promise<PaidResponse>): Promise<PaidResponse> {
  if (first.isFinal || first.response.headers.get(X_PAYMENT_RELEASED) === 'true') return first;
  const second = await ask().catch(() => null);
  if (second) await first.response.body?.cancel();
  return second ?? first;
}

async function readResponse(
  { response, isFinal }: PaidResponse,
  timeoutMs: number,
  unanswered: (reason: string) => JobRedemption,
): Promise<JobRedemption> {
  const { status: httpStatus, headers } = response;
  const { bytes, isWhole } = await readFirstBytes(response, { maxBytes: MAX_KEPT_BYTES, timeoutMs });
  const text = decodeText(bytes, isWhole);
  if (isFinal) {
    const type = headers.get('content-type');
    const contentType = type === null ? null : cleanUntrusted(type, 100);
    const body = text === null || CONTROL.test(text) ? null : text;
    const bodyBase64 = body === null ? Buffer.from(bytes).toString('base64') : null;
    return { outcome: 'answered', answer: { httpStatus, contentType, body, bodyBase64, isBodyCut: !isWhole } };
  }
  const said = text === null || text === '' ? '' : `: ${quoteUntrusted(text)}`;
  return unanswered(`the server answers with status ${httpStatus}${said}.`);
}

/** The bytes as text from which the same bytes can be made again, except for half a character at a cut; otherwise null. */
function decodeText(bytes: Uint8Array, isWhole: boolean): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return null;
  }
}

/** @param endsAtMs until when a signature can be used; a mined payment has moved the money */
function createFailure(reason: string, endsAtMs: number | undefined): JobFailure {
  const code = 'PAYMENT_NOT_ANSWERED';
  const again = 'Resume the job to try again with the same payment, which costs nothing more.';
  if (endsAtMs === undefined) {
    const suggestion = `${again} Or ask the server for a refund.`;
    return { code, message: `The payment is mined, but ${reason}`, suggestion };
  }
  const end = new Date(endsAtMs).toISOString();
  const message = `The payment is signed, and the server can take the money until ${end}, but ${reason}`;
  const suggestion = `${again} Once a final block after that time shows that the signature was not used, a resumed job signs a new one. Or abandon the job.`;
  return { code, message, suggestion };
}

/** A signature is as good as money, and some servers repeat what they were sent: enough of it to know it by. */
const PROOF_START = 24;

/** The reason without the payment's proof, whole or cut. */
function hideProof(reason: string, payment: Parameters<typeof showPayment>[0]): string {
  const { authorization } = payment;
  if (!authorization) return reason;
  const value = showPayment(payment)?.header.value ?? '';
  const starts = [authorization.signature.slice(2), value.replace(/^Payment /, '')].map((proof) =>
    proof.slice(0, PROOF_START).replaceAll('+', String.raw`\+`),
  );
  return starts.reduce((text, start) => text.replace(new RegExp(`${start}[\\w+/=-]*…?`, 'gi'), '(the proof)'), reason);
}

/** The reasons come from the server. */
function describe(error: unknown): string {
  if (error instanceof PaymentNotAcceptedError) {
    const said = error.details['challengeError'];
    const reason = error.failure ?? (typeof said === 'string' ? quoteUntrusted(said) : 'it gives no reason');
    return `the server does not accept it: ${reason}.`;
  }
  if (error instanceof PaymentError && error.code === 'redirect_refused') {
    return 'the server redirects the paid request, which is not followed.';
  }
  const reason = findReason(error);
  return `the server did not answer in time${reason === null ? '' : `: ${cleanUntrusted(reason).replace(/\.$/, '')}`}.`;
}

/** The innermost cause; the errors of the client and of fetch only say that there is one. */
function findReason(error: unknown): string | null {
  const cause = (error as { cause?: { message?: unknown } } | null)?.cause;
  return typeof cause?.message === 'string' ? (findReason(cause) ?? cause.message) : null;
}

interface Entry<Result> {
  result: Result | null;
  endedAtMs: number;
  abort: AbortController;
  settled: Promise<void>;
}

/** How long a result is kept that no call has fetched, because the lane went to another process. */
const FORGET_AFTER_MS = 10 * 60_000;

/** The background redemptions, by payment. Losing one costs a repeated request and nothing else. */
export class Redemptions<Result> {
  readonly #entries = new Map<string, Entry<Result>>();
  #isStopped = false;

  /** The outcome of redeeming a payment; null while it runs. Starts it if it is not running. */
  look(payment: string, begin: (signal: AbortSignal) => Promise<Result>): Result | null {
    const known = this.#entries.get(payment);
    if (known || this.#isStopped) return known?.result ?? null;
    this.#forgetOld();
    const abort = new AbortController();
    const entry: Entry<Result> = { result: null, endedAtMs: Infinity, abort, settled: Promise.resolve() };
    this.#entries.set(payment, entry);
    entry.settled = begin(abort.signal).then(
      (result) => {
        entry.result = result;
        entry.endedAtMs = performance.now();
      },
      // Aborted: the next call starts it again.
      () => void this.#entries.delete(payment),
    );
    return null;
  }

  /** Forgets a result that was used; the next call starts it again. */
  forget(payment: string): void {
    this.#entries.delete(payment);
  }

  /** Aborts all redemptions and starts no new ones. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const entries = [...this.#entries.values()];
    for (const { abort } of entries) abort.abort(new Error('The worker is stopping.'));
    await Promise.all(entries.map(({ settled }) => settled));
  }

  #forgetOld(): void {
    for (const [payment, { endedAtMs }] of this.#entries) {
      if (performance.now() - endedAtMs > FORGET_AFTER_MS) this.#entries.delete(payment);
    }
  }
}
