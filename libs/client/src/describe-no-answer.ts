import { BaseError, HttpRequestError, TimeoutError } from 'viem';

/**
 * What an RPC server did in place of answering, as a sentence; null where it answered, or something else failed. It names
 * the host alone: keys stand in the paths of such URLs, and in what quotes them.
 */
export function describeNoAnswer(error: unknown): string | null {
  if (!(error instanceof BaseError)) return null;
  const failure = error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError);
  if (failure instanceof TimeoutError) return `The RPC server at ${hostOf(failure.url)} does not answer.`;
  if (!(failure instanceof HttpRequestError)) return null;
  const server = `The RPC server at ${hostOf(failure.url)}`;
  if (failure.status !== undefined) return `${server} answers with status ${failure.status}.`;
  if (failure.cause instanceof SyntaxError) return `${server} does not answer in JSON.`;
  const code = readSystemCode(failure.cause);
  return `${server} does not answer${code === null ? '' : ` (${code})`}.`;
}

const hostOf = (url: string): string => new URL(url).host;

/** Such as ECONNREFUSED, which fetch hides below an error of its own. */
function readSystemCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'cause' in error ? readSystemCode(error.cause) : null;
}
