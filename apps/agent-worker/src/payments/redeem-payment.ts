import { cleanUntrusted, quoteUntrusted, readAnswer } from '@tollgate/agent-kit/planner';
import { PaymentNotAcceptedError, redeemPaidRequest, type PaidResponse } from '@tollgate/client';
import { PaymentError, X_PAYMENT_RELEASED, type AgentAnswerView, type Hex } from '@tollgate/protocol';
import type { JobFailure } from '@tollgate/transactions';

import type { KeptChallenge } from './kept-challenge.js';
import type { Turns } from './turns.js';

export interface RedemptionSettings {
  fetch: typeof globalThis.fetch;
  /** From the first attempt to the answer, waits for a turn aside. */
  redeemWithinMs: number;
  /** One attempt, and the reading of what it brought. */
  attemptTimeoutMs: number;
  allowPrivateTargets: boolean;
  turns: Turns;
}

/** What redeeming came to. `unanswered`: the money has moved, and nothing was served for it. */
export type Redemption =
  { outcome: 'answered'; answer: AgentAnswerView } | { outcome: 'unanswered'; failure: JobFailure };

/**
 * Shows a mined payment to the server that asked for it, until there is an answer. May be called again, by another process
 * too: the same proof and the same key bring the same answer.
 * @throws the signal's reason when it is aborted
 */
export async function redeemPayment(
  challenge: KeptChallenge,
  { txHash, payer }: { txHash: Hex; payer: Hex },
  settings: RedemptionSettings,
  signal: AbortSignal,
): Promise<Redemption> {
  const { url, requirement, idempotencyKey } = challenge;
  const payment = { method: 'GET', url, requirement, idempotencyKey, payer, transaction: { txHash } };
  const ask = () =>
    redeemPaidRequest(payment, {
      fetch: refuseRedirects(settings.fetch),
      deadlineMs: settings.redeemWithinMs,
      attemptTimeoutMs: settings.attemptTimeoutMs,
      allowInsecureHttp: settings.allowPrivateTargets,
      inTurn: (attempt) => settings.turns.run(new URL(url).origin, signal, attempt),
      signal,
    });
  try {
    const redemption = await readResponse(await askOnceMore(await ask(), ask), settings.attemptTimeoutMs);
    // Broken off while it was read, an answer looks like a short one.
    signal.throwIfAborted();
    return redemption;
  } catch (error) {
    signal.throwIfAborted();
    return { outcome: 'unanswered', failure: createFailure(describe(error)) };
  }
}

/** A server that charges for a failure says so by giving it again; where it has let the payment go, nothing is charged. */
async function askOnceMore(first: PaidResponse, ask: () => Promise<PaidResponse>): Promise<PaidResponse> {
  if (first.isFinal || first.response.headers.get(X_PAYMENT_RELEASED) === 'true') return first;
  const second = await ask().catch(() => null);
  if (second) await first.response.body?.cancel();
  return second ?? first;
}

async function readResponse({ response, isFinal }: PaidResponse, timeoutMs: number): Promise<Redemption> {
  const { status: httpStatus, contentType, body, isBodyCut } = await readAnswer(response, timeoutMs);
  if (isFinal) return { outcome: 'answered', answer: { httpStatus, contentType, body, isBodyCut } };
  const text = body === null || body === '' ? '' : `: ${quoteUntrusted(body)}`;
  return { outcome: 'unanswered', failure: createFailure(`the server answers with status ${httpStatus}${text}.`) };
}

function createFailure(reason: string): JobFailure {
  return {
    code: 'PAYMENT_NOT_ANSWERED',
    message: `The payment is mined, but ${reason}`,
    suggestion:
      'Resume the job to ask again with the same payment: nothing more is paid. Or ask the server for a refund.',
  };
}

/** Reasons and causes come from the server. */
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
  return `the server gave no answer in time${reason === null ? '' : `: ${cleanUntrusted(reason).replace(/\.$/, '')}`}.`;
}

/** What lies under the errors of the client and of fetch, which only say that there is something. */
function findReason(error: unknown): string | null {
  const cause = (error as { cause?: { message?: unknown } } | null)?.cause;
  return typeof cause?.message === 'string' ? (findReason(cause) ?? cause.message) : null;
}

/** The proof goes where it was bought, and no further. */
function refuseRedirects(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    if (response.status < 300 || response.status >= 400) return response;
    await response.body?.cancel();
    throw new PaymentError('redirect_refused', 'The server redirects the paid request.');
  };
}
