import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { CallToolRequest, CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import {
  decodeJsonHeader,
  encodeJsonHeader,
  IDEMPOTENCY_KEY,
  isRecord,
  ownField,
  PAYMENT_REQUIRED,
  PAYMENT_SIGNATURE,
  PaymentError,
  X_PAYMENT,
  type JsonRecord,
} from '@tollgate/protocol';

import { runProcedure } from './fetch/fetch-with-payment.js';
import { TOOL_PROTOCOL } from './network/assert-secure-url.js';
import { parseJson } from './network/read-body.js';
import { takeRequest } from './network/request-snapshot.js';
import { createContext, type PaymentOptions } from './sign/payment-options.js';
import type { Wallet } from './sign/wallet.js';

/** The `_meta` keys of a payment in a call (x402 transport specification for MCP, versions 1 and 2). */
const PAYMENT_META = 'x402/payment';
/** Stands for a server that does not answer: the call is repeated with the same payment. */
const LOST = [-32000, -32001];
const MAX_PAYMENT_BYTES = 128 * 1024;

export interface ToolPaymentOptions extends Omit<PaymentOptions, 'allowInsecureHttp'> {
  /** Identifies the server in the store: its URL. A payment to one server is never sent to another. */
  server: string;
}

export interface ToolCallOptions extends RequestOptions {
  /** Calls of one tool with the same arguments are one purchase while it is open, unless these keys differ. */
  idempotencyKey?: string;
}

export type PayingToolCall = (params: CallToolRequest['params'], options?: ToolCallOptions) => Promise<CallToolResult>;

/**
 * Calls the tools of an MCP server like `client.callTool`, and pays those that require it, as `fetchWithPayment` does:
 * once, within the limits, and again with the same payment if the answer is lost. The settlement is in the result's
 * `_meta['x402/payment-response']`. Results are not validated against a tool's `outputSchema`.
 * @throws PaymentError `invalid_options` at once; later for problems of the payment, and McpError when the server
 * refuses the call
 */
export function payForTools(
  client: Client,
  wallet: Wallet,
  { server, ...options }: ToolPaymentOptions,
): PayingToolCall {
  const context = createContext(fetch, wallet, options);
  if (typeof server !== 'string' || server === '') {
    throw new PaymentError(
      'invalid_options',
      'server is missing: it separates the payments to one server from those to others.',
    );
  }
  return async (params, { idempotencyKey, ...callOptions } = {}) => {
    const calls = new ToolCalls(client, params, callOptions);
    const request = await takeRequest(
      `${TOOL_PROTOCOL}${encodeURIComponent(server)}/${encodeURIComponent(params.name)}`,
      {
        method: 'POST',
        body: JSON.stringify(params.arguments ?? {}),
        headers: idempotencyKey === undefined ? {} : { [IDEMPOTENCY_KEY]: idempotencyKey },
        ...(callOptions.signal && { signal: callOptions.signal }),
      },
    );
    const response = await runProcedure({ ...context, fetch: calls.fetch }, request, (unpaid) => unpaid);
    return calls.resultOf(response);
  };
}

/** Presents one tool as an HTTP resource, because the payment code works on HTTP. */
class ToolCalls {
  readonly #results = new WeakMap<Response, CallToolResult | Error>();

  constructor(
    private readonly client: Client,
    private readonly params: CallToolRequest['params'],
    private readonly options: RequestOptions,
  ) {}

  readonly fetch = async (_input: unknown, init: RequestInit = {}): Promise<Response> => {
    const payment = readPayment(new Headers(init.headers));
    const params = payment ? { ...this.params, _meta: { ...this.params._meta, [PAYMENT_META]: payment } } : this.params;
    const options = { ...this.options, ...(init.signal && { signal: init.signal }) };
    // Error codes of the SDK package that the caller's client comes from; this module must load without it.
    const { CallToolResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
    try {
      const result = await this.client.request({ method: 'tools/call', params }, CallToolResultSchema, options);
      const required = findPaymentRequired(result);
      if (required) return toPaymentRequiredResponse(required);
      // A failed tool charges nothing: its payment stays valid for the next call.
      return this.#keep(result, result.isError === true ? 500 : 200);
    } catch (error) {
      const required = readPaymentRequiredError(error);
      if (required) return toPaymentRequiredResponse(required);
      if (payment === null || !isRefusal(error)) throw error;
      return this.#keep(error, 500);
    }
  };

  /** @throws McpError when the server refused the call */
  resultOf(response: Response): CallToolResult {
    const result = this.#results.get(response);
    if (result === undefined) throw new Error('the answer belongs to another call');
    if (result instanceof Error) throw result;
    return result;
  }

  #keep(result: CallToolResult | Error, status: number): Response {
    const response = new Response(null, { status });
    this.#results.set(response, result);
    return response;
  }
}

function readPayment(headers: Headers): object | null {
  const header = headers.get(PAYMENT_SIGNATURE) ?? headers.get(X_PAYMENT);
  return header === null ? null : decodeJsonHeader(header, MAX_PAYMENT_BYTES);
}

/** An error that the server sent, as opposed to a connection that failed. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' && !LOST.includes(error.code);
}

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
function findPaymentRequired(result: unknown): JsonRecord | null {
  if (!isRecord(result) || ownField(result, 'isError') !== true) return null;
  const structured = ownField(result, 'structuredContent');
  return asPaymentRequired(structured) ?? asPaymentRequired(parseText(ownField(result, 'content')));
}

/** The payment that a JSON-RPC error requires, as in version 1. */
function readPaymentRequiredError(error: unknown): JsonRecord | null {
  if (!(error instanceof Error) || !('code' in error) || error.code !== PAYMENT_REQUIRED_CODE) return null;
  return asPaymentRequired('data' in error ? error.data : undefined);
}

/** Translated to HTTP: version 1 in the body, version 2 in a header. */
function toPaymentRequiredResponse(required: JsonRecord): Response {
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
