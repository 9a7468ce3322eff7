import { encodeJsonHeader, isRecord, ownField, PAYMENT_REQUIRED, type JsonRecord } from '@tollgate/protocol';

import { parseJson } from './network/parse-json.js';

/**
 * The JSON-RPC error code of a call that requires a payment, and the code of the object that carries the requirements
 * as text.
 */
const PAYMENT_REQUIRED_CODE = 402;
const WRAPPER = 'x402/error';
const MAX_TEXT_LENGTH = 64 * 1024;

/**
 * The payment that a tool's result requires, in any of its forms; null if it requires none. Only a failed result can
 * require one.
 */
export function findPaymentRequired(result: unknown): JsonRecord | null {
  if (!isRecord(result) || ownField(result, 'isError') !== true) return null;
  const structured = ownField(result, 'structuredContent');
  return asPaymentRequired(structured) ?? asPaymentRequired(parseText(ownField(result, 'content')));
}

/** The payment that a JSON-RPC error requires, as in version 1. */
export function readPaymentRequiredError(error: unknown): JsonRecord | null {
  if (!(error instanceof Error) || !('code' in error) || error.code !== PAYMENT_REQUIRED_CODE) return null;
  return asPaymentRequired('data' in error ? error.data : undefined);
}

/** Translated to HTTP: version 1 in the body, version 2 in a header. */
export function toPaymentRequiredResponse(required: JsonRecord): Response {
  return ownField(required, 'x402Version') === 2
    ? new Response('{}', { status: 402, headers: { [PAYMENT_REQUIRED]: encodeJsonHeader(required) } })
    : new Response(JSON.stringify(required), { status: 402 });
}

function asPaymentRequired(value: unknown): JsonRecord | null {
  const wrapper = isRecord(value) ? ownField(value, WRAPPER) : undefined;
  const required = isRecord(wrapper) ? ownField(wrapper, 'data') : value;
  return isRecord(required) && Array.isArray(ownField(required, 'accepts')) ? required : null;
}

function parseText(content: unknown): unknown {
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  const text = isRecord(first) ? ownField(first, 'text') : undefined;
  return typeof text === 'string' && text.length <= MAX_TEXT_LENGTH ? parseJson(text) : undefined;
}
