import type { Readable } from 'node:stream';

import type { Problem } from '@tollgate/common';
import type { PaymentFailure } from '@tollgate/protocol';

import { UpstreamError } from './paid-route.js';

/** What a paid request got. */
export type Answer = ResourceAnswer | ProblemAnswer | RefusedAnswer;

/**
 * What the payment has to do with an answer. `paid`: spent on it just now; `replayed`: the stored answer of a payment
 * spent before; `reproduced`: made again for one; `released`: the payment was given back; `revisited`: made for who has
 * paid before, and comes back.
 */
export type AnswerOrigin = 'paid' | 'replayed' | 'reproduced' | 'released' | 'revisited';

export interface ResourceAnswer {
  readonly kind: 'resource';
  readonly origin: AnswerOrigin;
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | Readable;
  /** The transaction that paid, where it is known. */
  readonly txHash?: string | undefined;
  /** What a metered payment came to. */
  readonly amountBaseUnits?: string | undefined;
}

export interface ProblemAnswer {
  readonly kind: 'problem';
  readonly problem: Problem;
  readonly released: boolean;
}

/** The payment could not be settled: a new challenge, and nothing of what was made for it. */
export interface RefusedAnswer {
  readonly kind: 'refused';
  readonly failure: PaymentFailure;
  readonly headers: readonly (readonly [string, string])[];
}

const RETRY_SOON_MS = 1_000;
const DETAILS = {
  refused: 'The resource could not be reached.',
  failed: 'The resource gave no complete answer.',
  mischarged: 'The resource did not say properly what its answer came to. Nothing was charged.',
} as const;

function createProblem(problem: Problem, released = false): ProblemAnswer {
  return { kind: 'problem', problem, released };
}

export function answerBusy(retryAfterMs: number): ProblemAnswer {
  const detail = 'This payment is being answered to another request. Send the same request again later.';
  return createProblem({ status: 409, code: 'payment_in_progress', detail, retryAfterMs });
}

/** Another holder took the payment over while this answer was made. */
export function answerTakenOver(): ProblemAnswer {
  return answerBusy(RETRY_SOON_MS);
}

export function answerConflict(): ProblemAnswer {
  const detail = 'This payment was made for another request: method, path, query or body differ.';
  return createProblem({ status: 409, code: 'payment_for_other_request', detail });
}

export function answerIdentifierReused(): ProblemAnswer {
  const detail = 'This payment identifier names another payment of the same payer: send that one again.';
  return createProblem({ status: 409, code: 'payment_identifier_reused', detail });
}

export function answerGone(why: string): ProblemAnswer {
  const detail = `This payment was spent and its answer is not available any more. ${why}`;
  return createProblem({ status: 410, code: 'answer_gone', detail });
}

/** Never a 402: a client would pay a second time for our fault. */
export function answerUnavailable(retryAfterMs = RETRY_SOON_MS): ProblemAnswer {
  const detail = 'The payment cannot be checked now. Do not pay again: send the same request later.';
  return createProblem({ status: 503, code: 'verification_unavailable', detail, retryAfterMs });
}

/** It may have been moved by now: who is told to pay again pays twice. */
export function answerSettling(): ProblemAnswer {
  const detail = 'The payment is being settled. Do not pay again: send the same request later, and get its answer.';
  return createProblem({ status: 503, code: 'settlement_pending', detail, retryAfterMs: RETRY_SOON_MS });
}

/** A resource that asked for a payment itself: passed on, its 402 would be taken for a challenge of ours. */
export function answerForeignChallenge(released: boolean): ProblemAnswer {
  const detail = 'The resource behind this gateway asked for a payment itself.';
  return createProblem({ status: 502, code: 'upstream_failed', detail }, released);
}

export function answerUpstreamError(error: unknown, released: boolean): ProblemAnswer {
  if (!(error instanceof UpstreamError)) {
    const detail = 'The resource could not be produced.';
    return createProblem({ status: 500, code: 'resource_failed', detail }, released);
  }
  const { kind, code, options } = error;
  if (kind === 'unknown') {
    const detail =
      'The resource did not answer in time; whether it acted is unknown. Send the same request again later.';
    return createProblem({ status: 504, code, detail, retryAfterMs: RETRY_SOON_MS });
  }
  return createProblem({ status: options.timedOut === true ? 504 : 502, code, detail: DETAILS[kind] }, released);
}
