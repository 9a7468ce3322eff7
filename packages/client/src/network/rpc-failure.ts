import { PaymentError, type PaymentErrorCode } from '@tollgate/protocol';
import {
  BaseError,
  HttpRequestError,
  ResponseBodyTooLargeError,
  RpcRequestError,
  SocketClosedError,
  TimeoutError,
  UnknownRpcError,
} from 'viem';

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
function shortenCause(error: unknown): unknown {
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

/** Every answer within the limit was given by a node that does not have a block it was asked about. */
export class NodeBehindError extends BaseError {
  constructor(blockNumber: bigint) {
    super(
      `The RPC server is behind: it does not have block ${blockNumber}, which has a transaction of this account, or the chain was begun anew.`,
      { name: 'NodeBehindError' },
    );
  }
}

/** Answers by which nodes, and proxies in front of them, say "later": the outcome of the request stays unknown. */
const BUSY = /time.?out|timed out|deadline|rate.?limit|limit exceeded|too many|unavailable|overload|busy|try again/i;

/** Whether the outcome of a request to an RPC server is unknown. A JSON-RPC error ends it, whatever its HTTP status. */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const refusal = findRefusal(error);
  // -32005 is "limit exceeded".
  if (refusal) return refusal.code === -32005 || BUSY.test(refusal.details);
  return error.walk((cause) => TRANSPORT_ERRORS.some((known) => cause instanceof known)) !== null;
}

const TRANSPORT_ERRORS = [
  HttpRequestError,
  NodeBehindError,
  TimeoutError,
  SocketClosedError,
  ResponseBodyTooLargeError,
  // No answer of the node inside: viem could not parse the response.
  UnknownRpcError,
];

/**
 * The node's refusal with the given code; `wallet_unavailable`, which may be tried again, if there was no answer. Other
 * errors stay as they are.
 */
export function explainNodeRefusal(
  code: PaymentErrorCode,
  what: string,
  error: unknown,
  details: Readonly<Record<string, unknown>> = {},
): unknown {
  if (!(error instanceof BaseError)) return error;
  // Some messages already end in a full stop.
  const reason = readDetails(error).replace(/\.$/, '');
  const why = `${what}: ${reason}.`;
  if (!findRefusal(error)) return createWalletUnavailable(error, why);
  return new PaymentError(code, why, {
    hint: 'Check the balance, fees and nonce of the payer.',
    details: { ...details, reason },
    cause: shortenCause(error),
  });
}
