import { isRecord, ownField, type JsonRecord } from '@tollgate/protocol';

import { parseJson } from '../network/read-body.js';

/** The payment that a tool asks for. */
export interface PaymentRequired {
  /** x402: as in the body of a 402; null where only MPP is asked for. */
  required: JsonRecord | null;
  /** Whether they came as in the draft of MCP itself, which has the payment in a field of its own. */
  isDraft: boolean;
  /** MPP: its challenges, with their requests as JSON. */
  challenges: readonly unknown[];
  /** MPP: why (RFC 9457). */
  problem: JsonRecord;
}

/**
 * The JSON-RPC error codes of a call that requires a payment: of x402, of MPP before a payment and after one that was not
 * valid, and of the draft of MCP.
 */
const CODES: readonly unknown[] = [402, -32042, -32043, -32402];
/** The field that carries the requirements, as the data of an error with such a code. */
const WRAPPER = 'x402/error';
const MAX_TEXT_LENGTH = 64 * 1024;

/** In the metadata of a result: the challenges of MPP. */
const PAYMENT_REQUIRED_META = 'org.paymentauth/payment-required';

/** The payment that a JSON-RPC error requires; null if it requires none. */
export function readPaymentRequiredError(error: unknown): PaymentRequired | null {
  if (!(error instanceof Error) || !('code' in error) || !CODES.includes(error.code)) return null;
  const asked = readTerms('data' in error ? error.data : undefined);
  return asked && { ...asked, problem: { detail: error.message, ...asked.problem } };
}

/**
 * The payment that a tool's result requires, in any of its forms; null if it requires none. A result that is no failure
 * must say that it asks for a payment, because a tool may also sell or list such terms as its content.
 */
export function findPaymentRequired(result: unknown): PaymentRequired | null {
  if (!isRecord(result)) return null;
  const meta = ownField(result, '_meta');
  const asked = isRecord(meta) ? readTerms(ownField(meta, PAYMENT_REQUIRED_META)) : null;
  if (asked) return asked;
  const isFailure = ownField(result, 'isError') === true;
  const read = (said: unknown): PaymentRequired | null => {
    const asked = readAsked(said);
    if (asked) return asked;
    const terms = readTerms(said);
    return terms && (isFailure || typeof ownField(terms.required ?? {}, 'error') === 'string') ? terms : null;
  };
  return read(ownField(result, 'structuredContent')) ?? read(parseText(ownField(result, 'content')));
}

/** The terms in an error that is the content of a result, which its code shows to be a question for a payment. */
function readAsked(value: unknown): PaymentRequired | null {
  if (!isRecord(value)) return null;
  const error = ownField(value, WRAPPER) ?? ownField(value, 'error') ?? value;
  // An error of another code may have such data too, and asks for nothing.
  return isRecord(error) && CODES.includes(ownField(error, 'code')) ? readTerms(ownField(error, 'data')) : null;
}

function readTerms(value: unknown): PaymentRequired | null {
  if (!isRecord(value)) return null;
  const challenges = ownField(value, 'challenges');
  const problem = ownField(value, 'problem');
  const byMpp = {
    challenges: Array.isArray(challenges) ? (challenges as unknown[]) : [],
    problem: isRecord(problem) ? problem : {},
  };
  const isPlain = Array.isArray(ownField(value, 'accepts'));
  const required = isPlain ? value : readDraft(ownField(value, 'payment'));
  return required || byMpp.challenges.length > 0
    ? { required, isDraft: required !== null && !isPlain, ...byMpp }
    : null;
}

/** The requirements of x402 in the draft of MCP. */
function readDraft(options: unknown): JsonRecord | null {
  const option: unknown = Array.isArray(options)
    ? options.find((one) => isRecord(one) && ownField(one, 'protocol') === 'x402')
    : undefined;
  const required = isRecord(option) ? ownField(option, 'paymentRequired') : undefined;
  return isRecord(required) && Array.isArray(ownField(required, 'accepts')) ? required : null;
}

function parseText(content: unknown): unknown {
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  const text = isRecord(first) ? ownField(first, 'text') : undefined;
  return typeof text === 'string' && text.length <= MAX_TEXT_LENGTH ? parseJson(text) : undefined;
}
