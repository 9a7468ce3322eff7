import { BaseError } from 'viem';

import { describeNoAnswer } from './describe-no-answer.js';

/**
 * Reduces a failure to one line, for the cause of an error that programs may log whole. viem's errors repeat the
 * request and the URL of the RPC server in texts, fields and causes, and such URLs may contain keys.
 */
export function shortenCause(error: unknown): unknown {
  if (!(error instanceof BaseError)) return error;
  const cause = new Error(describeNoAnswer(error) ?? error.shortMessage);
  cause.name = error.name;
  return cause;
}
