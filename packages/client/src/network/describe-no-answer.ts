import { BaseError, HttpRequestError, TimeoutError } from 'viem';

import { readSystemCode } from './read-system-code.js';

/** How an RPC server failed to answer. */
export interface NoAnswer {
  /**
   * Host and port only: the user, path and query of such URLs may contain API keys, and so may texts that quote them.
   */
  host: string;
  /** Completes the sentence `The RPC server at … `: `answers with HTTP status 429`. */
  reason: string;
}

/** Null if the RPC server answered, or something else failed. */
export function readNoAnswer(error: unknown): NoAnswer | null {
  if (!(error instanceof BaseError)) return null;
  const failure = error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError);
  if (!(failure instanceof HttpRequestError || failure instanceof TimeoutError)) return null;
  return { host: new URL(failure.url).host, reason: explain(failure) };
}

/** The failure as a sentence. */
export function describeNoAnswer(error: unknown): string | null {
  const failure = readNoAnswer(error);
  return failure && `The RPC server at ${failure.host} ${failure.reason}.`;
}

function explain(failure: HttpRequestError | TimeoutError): string {
  if (failure instanceof TimeoutError) return 'does not answer in time';
  if (failure.status !== undefined) return `answers with HTTP status ${failure.status}`;
  if (failure.cause instanceof SyntaxError) return 'does not answer in JSON';
  const code = readSystemCode(failure.cause);
  return `does not answer${code === null ? '' : ` (${code})`}`;
}
