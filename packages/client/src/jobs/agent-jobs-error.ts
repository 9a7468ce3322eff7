import { parseRetryAfter, type JobFailure } from '@tollgate/protocol';

import { parseJson, readText } from '../network/read-body.js';

/** The gateway refused a request, or did not answer. Contains neither the API key nor the content of the request. */
export class AgentJobsError extends Error {
  override readonly name = 'AgentJobsError';
  /** The HTTP status of the answer; null if there was none. */
  readonly status: number | null = null;
  /** Every problem of the request, if `code` is `request_invalid`. */
  readonly problems: readonly string[] = [];
  /** Why the job cannot be done, according to a dry run, if `code` is `plan_refused`. */
  readonly failure: JobFailure | null = null;
  /** Identifies the request in the gateway's logs. */
  readonly requestId: string | null = null;
  readonly retryAfterMs: number | null = null;
  /**
   * The idempotency key of the submission. Without an answer the job may have been accepted all the same: submit it
   * again with this key.
   */
  readonly idempotencyKey: string | null = null;

  /** @param code the gateway's, or `network_error`, `answer_unreadable`, `redirect_refused` */
  constructor(
    readonly code: string,
    message: string,
    { cause, ...facts }: Partial<Omit<AgentJobsError, 'name' | 'code' | 'message' | 'stack'>> = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, facts);
  }
}

/** Creates the error for a refusing answer. Reads its body, until the signal is aborted. */
export async function readRefusal(
  response: Response,
  idempotencyKey: string | null,
  signal: AbortSignal,
): Promise<AgentJobsError> {
  const { status } = response;
  const text = await readText(response, signal).catch(() => '');
  const problem = Object(parseJson(text)) as Readonly<Record<string, unknown>>;
  const { code, detail, problems, failure, requestId } = problem;
  const isProblem = typeof code === 'string' && typeof detail === 'string';
  return new AgentJobsError(
    isProblem ? code : 'answer_unreadable',
    isProblem ? `The gateway answered ${status}: ${detail}` : `The gateway answered ${status} without a reason.`,
    {
      status,
      problems: Array.isArray(problems) ? problems.filter((one): one is string => typeof one === 'string') : [],
      failure: isFailure(failure) ? failure : null,
      requestId: typeof requestId === 'string' ? requestId : null,
      retryAfterMs: parseRetryAfter(response.headers.get('retry-after'), Date.now()),
      idempotencyKey,
    },
  );
}

function isFailure(value: unknown): value is JobFailure {
  const { code, message, suggestion } = Object(value) as Partial<Record<keyof JobFailure, unknown>>;
  return typeof code === 'string' && typeof message === 'string' && typeof suggestion === 'string';
}
