import { BaseError } from 'viem';

/**
 * A failure as the cause of an error that programs log whole: what viem says of it in one line. Its texts, fields and causes
 * repeat the request and the URL of the RPC server, and keys stand in such URLs.
 */
export function shortenCause(error: unknown): unknown {
  if (!(error instanceof BaseError)) return error;
  const cause = new Error(error.shortMessage);
  cause.name = error.name;
  return cause;
}
