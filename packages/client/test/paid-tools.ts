import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, McpError, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { SettleResponse } from '@tollgate/protocol';

import { createCharge, readCharged, type ChargedOffer } from './charged-tools.js';

/**
 * How a server requests a payment: all forms in the transport specifications of versions 1 and 2; by the error codes of
 * MPP and of the draft of MCP (SEP-2007) too; and each in a result that is not marked as failed. MPP asks by challenges of
 * its own, in an error or in the metadata of a result.
 */
export const WORDINGS = [
  ...['version 1', 'structured', 'structured and wrapped', 'text', 'text and wrapped'],
  ...['error -32042', 'error -32043', 'error -32402', 'draft of MCP'],
  ...['result with error 402', 'result with error -32042', 'result with error -32402 as text'],
  ...['structured, not failed', 'structured and wrapped, not failed', 'text, not failed'],
  ...['MPP, error -32042', 'MPP, error -32043', 'MPP, result', 'MPP, result, not failed'],
] as const;
export type Wording = (typeof WORDINGS)[number];

export interface PaidTools {
  wording: Wording;
  /** One element of `accepts`, in the version of the wording. */
  offer: () => object;
  /** Verifies the payment in `_meta`; returns the reason when it is invalid, or null. */
  verify: (payment: object) => Promise<string | null>;
  settle: (payment: object) => Promise<SettleResponse>;
  /** Called when a paid tool runs. `tell` answers, `fail` fails. */
  made?: () => void;
}

/** An MCP server with two paid tools, and `free`, which is not paid. As in the specification, it stores nothing. */
export function createPaidTools({ wording, offer, verify, settle, made = () => undefined }: PaidTools): Server {
  const server = new Server({ name: 'paid-tools', version: '1.0.0' }, { capabilities: { tools: {} } });
  const isMpp = wording.startsWith('MPP');
  const code = Number(/-?[0-9]{3,}/.exec(wording)?.[0] ?? -32402);
  const charge = (error: string): CallToolResult => {
    const data = createCharge(offer() as ChargedOffer, error);
    if (wording.includes('error')) throw new McpError(code, error, data);
    return {
      ...(!wording.endsWith('not failed') && { isError: true }),
      content: [{ type: 'text', text: error }],
      _meta: { 'org.paymentauth/payment-required': data },
    };
  };
  const ask = (error: string, settlement: object = {}): CallToolResult => {
    if (isMpp) return charge(error);
    const x402Version = wording === 'version 1' ? 1 : 2;
    const required = { x402Version, error, resource: { url: 'mcp://tool/tell' }, accepts: [offer()], ...settlement };
    if (x402Version === 1) throw new McpError(402, error, required);
    const data = wording === 'draft of MCP' ? { payment: [{ protocol: 'x402', paymentRequired: required }] } : required;
    if (wording.startsWith('error') || wording === 'draft of MCP') throw new McpError(code, error, data);
    const wrapped = { 'x402/error': { code: 402, message: error, data: required } };
    const asError = { error: { code, message: error, data: required } };
    const said = wording.includes('wrapped') ? wrapped : wording.startsWith('result') ? asError : required;
    const isStructured = !wording.includes('text');
    const text = isStructured ? error : JSON.stringify(said);
    const isFailed = !wording.startsWith('result') && !wording.endsWith('not failed');
    return {
      ...(isFailed && { isError: true }),
      content: [{ type: 'text', text }],
      ...(isStructured && { structuredContent: said }),
    };
  };
  // The SDK drops fields that it does not know.
  const schema = CallToolRequestSchema.extend({ params: CallToolRequestSchema.shape.params.loose() });
  server.setRequestHandler(schema, async ({ params }): Promise<CallToolResult> => {
    const { name, arguments: input, _meta } = params;
    if (name === 'free') return { content: [{ type: 'text', text: 'free' }] };
    if (name !== 'tell' && name !== 'fail') throw new McpError(-32602, `there is no tool ${name}`);
    const { paymentInput } = (params['payment'] ?? {}) as { paymentInput?: { authorization?: object } };
    const credential = _meta?.['org.paymentauth/credential'];
    const byX402 =
      wording === 'draft of MCP' ? paymentInput?.authorization : (_meta?.['x402/payment'] as object | undefined);
    const payment = isMpp ? credential && readCharged(credential, offer() as ChargedOffer) : byX402;
    if (!payment) return ask('Payment required');
    const reason = await verify(payment);
    if (reason !== null) return ask(reason);
    made();
    if (name === 'fail') return { isError: true, content: [{ type: 'text', text: 'the tool failed' }] };
    const settled = await settle(payment);
    if (!settled.success) return ask(settled.errorReason ?? 'not settled', { 'x402/payment-response': settled });
    const text = `told ${JSON.stringify(input)}`;
    const { transaction: reference } = settled;
    const receipt = { method: 'evm', reference, status: 'success', timestamp: new Date().toISOString() };
    const named = isMpp ? { 'org.paymentauth/receipt': receipt } : { 'x402/payment-response': settled };
    return { content: [{ type: 'text', text }], _meta: named };
  });
  return server;
}

/** The transaction of a settlement, as the result of a paid tool names it. */
export function transactionOf({ _meta }: CallToolResult): unknown {
  const settled = _meta?.['x402/payment-response'] as SettleResponse | undefined;
  return settled?.transaction ?? (_meta?.['org.paymentauth/receipt'] as { reference: string } | undefined)?.reference;
}
