import { findRefusal, readDetails, readNoAnswer } from '@tollgate/client';
import type { BaseError, RpcRequestError } from 'viem';

import { AgentKitError } from '../agent-kit-error.js';
import { hideKeyWords, quoteReason } from './quote-reason.js';

/**
 * The outcome of a request is unknown. The message contains the RPC server's host, but not the rest of its URL, which
 * may contain a key.
 */
export function explainNoAnswer(error: BaseError): AgentKitError {
  const busy = findRefusal(error);
  if (busy) return create('The network did not answer', new URL(busy.url).host, `answers ${quote(readDetails(error))}`);
  const failure = readNoAnswer(error);
  if (failure) return create('The network did not answer', failure.host, failure.reason);
  return new AgentKitError('NETWORK_ERROR', `The network did not answer: ${quote(error.shortMessage)}.`);
}

/** The RPC server refused the request, which has therefore ended. */
export function explainRefusedRequest(error: BaseError, refusal: RpcRequestError): AgentKitError {
  return create('The network refused the request', new URL(refusal.url).host, `answers ${quote(readDetails(error))}`);
}

function create(what: string, host: string, reason: string): AgentKitError {
  // A host may have any name, including the keyword of another error.
  const shown = hideKeyWords(host, 'NETWORK_ERROR');
  return new AgentKitError('NETWORK_ERROR', `${what}: the RPC server at ${shown} ${reason}.`, {
    details: { rpcHost: shown },
  });
}

const quote = (reason: string): string => quoteReason(reason, 'NETWORK_ERROR');
