import { BaseError } from 'viem';

import { describeNoAnswer } from './describe-no-answer.js';

/**
 * A failure as the cause of an error that programs log whole: what is known of it in one line. Texts, fields and causes of
 * viem's errors repeat the request and the URL of the RPC server, and keys stand in such URLs.
 */
export function shortenCause(error: unknown): unknown {
  if (!(error instanceof BaseError)) return error;
  const cause = new Error(describeNoAnswer(error) ?? error.shortMessage);
  cause.name = error.name;
  return cause;
}
