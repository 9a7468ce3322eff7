import { PaymentError } from '@tollgate/protocol';
import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from 'viem';

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
function describeNoAnswer(error: unknown): string | null {
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

/** The error for a chain that cannot be read. @param otherwise the message if the RPC server did answer */
export function createWalletUnavailable(error: unknown, otherwise: string): PaymentError {
  return new PaymentError('wallet_unavailable', describeNoAnswer(error) ?? otherwise, {
    hint: 'Check that the RPC server is up and its URL is right.',
    cause: shortenCause(error),
  });
}

/** Reads `what` from the chain. @throws PaymentError `wallet_unavailable` when the chain cannot be read */
export async function lookUp<Result>(what: string, ask: () => Promise<Result>): Promise<Result> {
  return ask().catch((error: unknown) => {
    throw createWalletUnavailable(error, `The ${what} cannot be read from the chain.`);
  });
}

// Shorter parts of a path are not keys: `v2`, `mainnet`.
const SHORTEST_KEY = 8;

/** The RPC server's refusal inside an error of viem; null if there is none. */
export function findRefusal(error: BaseError): RpcRequestError | null {
  const found = error.walk((cause) => cause instanceof RpcRequestError);
  return found instanceof RpcRequestError ? found : null;
}

/** The RPC server's message, without the key in its URL, because servers often repeat a key that they refuse. */
export function readDetails(error: BaseError): string {
  const details = error.details || error.shortMessage;
  const refusal = findRefusal(error);
  return refusal ? hideKey(details, refusal.url) : details;
}

function hideKey(text: string, url: string): string {
  const { pathname, searchParams } = new URL(url);
  const parts = [...pathname.split('/'), ...searchParams.values()].flatMap((part) => [part, decode(part)]);
  return parts
    .filter(({ length }) => length >= SHORTEST_KEY)
    .reduce((hidden, part) => hidden.replaceAll(part, '…'), text);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
