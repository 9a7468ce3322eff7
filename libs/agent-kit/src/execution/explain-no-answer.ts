import { findRefusal, readDetails, readNoAnswer } from '@tollgate/client';
import type { BaseError, RpcRequestError } from 'viem';

import { AgentKitError } from '../agent-kit-error.js';
import { hideKeyWords, quoteReason } from './quote-reason.js';

/** What became of a request stays open. Names the RPC server's host, never the rest of its URL, which may hold a key. */
export function explainNoAnswer(error: BaseError): AgentKitError {
  const busy = findRefusal(error);
  if (busy) return create('The network did not answer', new URL(busy.url).host, `answers ${quote(readDetails(error))}`);
  const failure = readNoAnswer(error);
  if (failure) return create('The network did not answer', failure.host, failure.reason);
  return new AgentKitError('NETWORK_ERROR', `The network did not answer: ${quote(error.shortMessage)}.`);
}

/** The RPC server's own refusal, with which the request has ended. */
export function explainRefusedRequest(error: BaseError, refusal: RpcRequestError): AgentKitError {
  return create('The network refused the request', new URL(refusal.url).host, `answers ${quote(readDetails(error))}`);
}

function create(what: string, host: string, reason: string): AgentKitError {
  // A host may be called anything, also what stands for another error.
  const shown = hideKeyWords(host, 'NETWORK_ERROR');
  return new AgentKitError('NETWORK_ERROR', `${what}: the RPC server at ${shown} ${reason}.`, {
    details: { rpcHost: shown },
  });
}

const quote = (reason: string): string => quoteReason(reason, 'NETWORK_ERROR');
