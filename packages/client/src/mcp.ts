import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { CallToolRequest, CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import {
  canonicalJson,
  decodeJsonHeader,
  decodeRequest,
  encodeBase64Url,
  encodeJsonHeader,
  findPaymentCredentials,
  IDEMPOTENCY_KEY,
  isChallenge,
  isRecord,
  ownField,
  PAYMENT_AUTHORIZATION,
  PAYMENT_REQUIRED,
  PAYMENT_SIGNATURE,
  PaymentError,
  renderPaymentChallenge,
  X_PAYMENT,
  type JsonRecord,
  type ReceivedChallenge,
} from '@tollgate/protocol';

import type { Wallet } from './account/wallet.js';
import { runProcedure } from './fetch/fetch-with-payment.js';
import { findPaymentRequired, readPaymentRequiredError, type PaymentRequired } from './mcp/find-payment-required.js';
import { TOOL_PROTOCOL } from './network/assert-secure-url.js';
import { takeRequest } from './network/request-snapshot.js';
import { createContext, type PaymentOptions } from './sign/payment-options.js';

/** The `_meta` keys of a payment in a call: of x402 (transport specification for MCP, versions 1 and 2) and of MPP. */
const PAYMENT_META = 'x402/payment';
const CREDENTIAL_META = 'org.paymentauth/credential';
/** Stands for a server that does not answer: the call is repeated with the same payment. */
const LOST = [-32000, -32001];
const MAX_PAYMENT_BYTES = 128 * 1024;
const MAX_CHALLENGES = 32;
/** Parameters of a challenge that JSON-RPC has as JSON, and HTTP encoded. */
const ENCODED = ['request', 'opaque'];

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
 * `_meta['x402/payment-response']`, or `_meta['org.paymentauth/receipt']` by MPP. Results are not validated against a
 * tool's `outputSchema`.
 * @throws PaymentError `invalid_options` at once; later for problems of the payment, and McpError when the server
 * refuses the call
 */
export function payForTools(
  client: Client,
  wallets: Wallet | readonly Wallet[],
  { server, ...options }: ToolPaymentOptions,
): PayingToolCall {
  const context = createContext(fetch, wallets, options);
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
  #isDraft = false;

  constructor(
    private readonly client: Client,
    private readonly params: CallToolRequest['params'],
    private readonly options: RequestOptions,
  ) {}

  readonly fetch = async (_input: unknown, init: RequestInit = {}): Promise<Response> => {
    const payment = readPayment(new Headers(init.headers));
    const params = payment ? this.#pay(payment) : this.params;
    const options = { ...this.options, ...(init.signal && { signal: init.signal }) };
    // Error codes of the SDK package that the caller's client comes from; this module must load without it.
    const { CallToolResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
    try {
      const result = await this.client.request({ method: 'tools/call', params }, CallToolResultSchema, options);
      const asked = findPaymentRequired(result);
      if (asked) return this.#ask(asked);
      // A failed tool charges nothing: its payment stays valid for the next call.
      return this.#keep(result, result.isError === true ? 500 : 200);
    } catch (error) {
      const asked = readPaymentRequiredError(error);
      if (asked) return this.#ask(asked);
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

  /** In the place of its protocol, and in that of the draft of MCP once the server has asked as in the draft. */
  #pay({ meta, payment }: ToolPayment): CallToolRequest['params'] {
    const paid = { ...this.params, _meta: { ...this.params._meta, [meta]: payment } };
    const draft = { payment: { protocol: 'x402', paymentInput: { authorization: payment } } };
    return this.#isDraft && meta === PAYMENT_META ? { ...paid, ...draft } : paid;
  }

  #ask(asked: PaymentRequired): Response {
    this.#isDraft = asked.isDraft;
    return toPaymentRequiredResponse(asked);
  }

  #keep(result: CallToolResult | Error, status: number): Response {
    const response = new Response(null, { status });
    this.#results.set(response, result);
    return response;
  }
}

interface ToolPayment {
  meta: typeof PAYMENT_META | typeof CREDENTIAL_META;
  payment: JsonRecord;
}

function readPayment(headers: Headers): ToolPayment | null {
  const header = headers.get(PAYMENT_SIGNATURE) ?? headers.get(X_PAYMENT);
  if (header !== null) return { meta: PAYMENT_META, payment: decodeJsonHeader(header, MAX_PAYMENT_BYTES) };
  const [token] = ['Authorization', PAYMENT_AUTHORIZATION].flatMap((name) =>
    findPaymentCredentials(headers.get(name) ?? ''),
  );
  if (token === undefined) return null;
  const credential = decodeJsonHeader(token, MAX_PAYMENT_BYTES) as JsonRecord & { challenge: ReceivedChallenge };
  const { challenge } = credential;
  // JSON-RPC has the request as JSON where HTTP has it encoded.
  const payment = { ...credential, challenge: { ...challenge, request: decodeRequest(challenge.request) } };
  return { meta: CREDENTIAL_META, payment };
}

/** An error that the server sent, as opposed to a connection that failed. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' && !LOST.includes(error.code);
}

/** Translated to HTTP: x402 version 1 in the body, version 2 in a header, and MPP in another. */
function toPaymentRequiredResponse({ required, challenges, problem }: PaymentRequired): Response {
  const headers = new Headers();
  if (required && ownField(required, 'x402Version') === 2) headers.set(PAYMENT_REQUIRED, encodeJsonHeader(required));
  const asked = challenges.slice(0, MAX_CHALLENGES).flatMap((challenge) => renderChallenge(challenge) ?? []);
  if (asked.length > 0) headers.set('WWW-Authenticate', asked.join(', '));
  return new Response(JSON.stringify(headers.has(PAYMENT_REQUIRED) ? {} : (required ?? problem)), {
    status: 402,
    headers,
  });
}

/** Null for what is no challenge. Parameters that a credential cannot repeat as text are left out. */
function renderChallenge(challenge: unknown): string | null {
  if (!isRecord(challenge)) return null;
  const parameters: Record<string, string> = {};
  for (const [name, value] of Object.entries(challenge)) {
    if (typeof value === 'string' && /^[a-z0-9]+$/i.test(name)) parameters[name] = value;
    if (ENCODED.includes(name) && isRecord(value)) parameters[name] = encode(value);
  }
  return isChallenge(parameters) ? renderPaymentChallenge(parameters) : null;
}

/** Empty for JSON that is nested too deep, with which it is no challenge. */
function encode(value: JsonRecord): string {
  try {
    return encodeBase64Url(canonicalJson(value));
  } catch {
    return '';
  }
}
