import { PaymentNotAcceptedError } from '@tollgate/client';
import { findMissingAllowance, readSystemCode } from '@tollgate/client/internal';
import { PaymentError, type PaymentErrorCode } from '@tollgate/protocol';

import { AgentKitError, hideKeyWords, quoteReason, type AgentKitErrorCode } from '../types/agent-kit-error.js';
import { cleanUntrusted } from '../types/untrusted-text.js';

// URLs and reasons in these messages come from the server.
const MAX_MESSAGE_LENGTH = 1_000;

const CODES: Partial<Record<PaymentErrorCode, AgentKitErrorCode>> = {
  over_limit: 'POLICY_VIOLATION',
  insecure_url: 'INVALID_INPUT',
  invalid_amount: 'INVALID_INPUT',
  invalid_options: 'INVALID_CONFIGURATION',
  wrong_chain: 'INVALID_CONFIGURATION',
  wallet_unavailable: 'NETWORK_ERROR',
};

function clean(error: unknown): string {
  return cleanUntrusted(error instanceof Error ? error.message : String(error), MAX_MESSAGE_LENGTH);
}

/**
 * The failure of a payment before anything was paid.
 * @param url the requested URL, of which the message contains only the host
 */
export function explainUnpaid(error: unknown, url?: string): AgentKitError {
  if (error instanceof AgentKitError) return error;
  const suggestion = 'Read the reason; nothing was paid.';
  if (!(error instanceof PaymentError)) {
    const target = url === undefined ? '' : ` to ${hideKeyWords(new URL(url).host, 'NETWORK_ERROR')}`;
    const code = readSystemCode(error);
    const why = hideKeyWords(code ?? clean(error), 'NETWORK_ERROR');
    return new AgentKitError('NETWORK_ERROR', `The network request${target} failed: ${why}.`, {
      cause: error,
      suggestion: 'Check the URL and try again; nothing was paid.',
    });
  }
  // The kit's own reason not to pay an offer; with several offers there are other reasons beside it.
  const own = error.cause instanceof AgentKitError ? error.cause : null;
  if (own?.message === error.message) return own;
  const isPoor = error.code === 'cannot_pay' && /insufficient funds/i.test(error.message);
  const code = own?.code ?? (isPoor ? 'INSUFFICIENT_FUNDS' : (CODES[error.code] ?? 'PAYMENT_FAILED'));
  const message = code === 'NETWORK_ERROR' ? `The network failed: ${clean(error)}` : clean(error);
  const missing = findMissingAllowance(error.code);
  return new AgentKitError(code, message, {
    cause: error,
    details: { ...own?.details, paymentError: error.code },
    ...(code === 'PAYMENT_FAILED' && { suggestion }),
    ...(missing && {
      suggestion: `Nothing was paid. Approve ${missing.title} with the operation approve, or set payments.${missing.option} of the kit.`,
    }),
    ...(error.code === 'over_limit' && { suggestion: 'Raise the limit, or do not buy it; nothing was paid.' }),
  });
}

/** Explains why a planned payment failed; the server may no longer offer the planned terms. */
export function explainChangedTerms(error: unknown, url: string): AgentKitError {
  if (!(error instanceof PaymentError) || !['over_limit', 'no_trusted_requirement'].includes(error.code)) {
    return explainUnpaid(error, url);
  }
  return new AgentKitError('PLAN_EXPIRED', `The server changed its terms; nothing was paid. ${clean(error)}`, {
    cause: error,
    details: { paymentError: error.code },
  });
}

/** The failure of a payment after it was signed. */
export function explainUnanswered(error: unknown): AgentKitError {
  const reason =
    error instanceof PaymentNotAcceptedError ? `the server did not accept it: ${readReason(error)}.` : clean(error);
  return new AgentKitError('PAYMENT_FAILED', `The payment was sent, but ${reason}`, {
    cause: error,
    suggestion:
      error instanceof PaymentError && error.code === 'payment_pending' && error.hint !== undefined
        ? error.hint
        : 'The payment stays in the store: the same operation redeems it and pays nothing more.',
    details: error instanceof PaymentError ? { paymentError: error.code } : {},
  });
}

function readReason({ failure, details }: PaymentNotAcceptedError): string {
  const said = details['challengeError'];
  const reasons = [failure, typeof said === 'string' ? quoteReason(said, 'PAYMENT_FAILED') : null];
  return reasons.filter((reason) => reason !== null).join(': ') || 'it gave no reason';
}
