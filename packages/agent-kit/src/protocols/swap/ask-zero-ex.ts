import { parseJson, readChunks, readSystemCode } from '@tollgate/client/internal';
import { isRecord } from '@tollgate/protocol';
import { concatBytes, getAddress, isAddress, isHex } from 'viem';
import { z } from 'zod';

import { AgentKitError, quoteReason } from '../../types/agent-kit-error.js';
import { quoteUntrusted } from '../../types/untrusted-text.js';

export interface ZeroExServer {
  baseUrl: string;
  apiKey: string;
  timeoutMs: number;
  fetch: typeof globalThis.fetch;
}

const MAX_ANSWER_BYTES = 1_000_000;

/**
 * Sends one request to the Swap API.
 * @throws AgentKitError `NETWORK_ERROR` when it does not answer in time, `INSUFFICIENT_LIQUIDITY` and `PROTOCOL_FAILED`
 * when it refuses or its answer has another shape. Never contains the API key.
 */
export async function askZeroEx<Answer>(
  server: ZeroExServer,
  question: 'price' | 'quote',
  query: Record<string, string>,
  schema: z.ZodType<Answer>,
): Promise<Answer> {
  const url = new URL(`/swap/allowance-holder/${question}?${new URLSearchParams(query).toString()}`, server.baseUrl);
  const { status, text } = await readAnswer(url, server);
  const body = parseJson(text);
  if (status !== 200) throw explainRefusal(status, body, server.apiKey);
  const answer = schema.safeParse(body);
  if (answer.success) return answer.data;
  const path = answer.error.issues[0]?.path.join('.') ?? '';
  throw new AgentKitError(
    'PROTOCOL_FAILED',
    `The answer of 0x was rejected: ${path === '' ? 'it' : quoteUntrusted(path)} does not have the documented shape.`,
  );
}

async function readAnswer(
  url: URL,
  { apiKey, timeoutMs, fetch }: ZeroExServer,
): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      headers: { '0x-api-key': apiKey, '0x-version': 'v2', accept: 'application/json' },
      signal,
      // Followed, it would send the key to any address. Cloudflare Workers do not know `error`.
      redirect: 'manual',
    });
    return { status: response.status, text: await readCapped(response, signal) };
  } catch (error) {
    if (error instanceof AgentKitError) throw error;
    // Without the cause, because errors of fetch may repeat the request's headers.
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    const code = isLate ? null : readSystemCode(error);
    const why = isLate ? 'in time' : code ? `(${code})` : 'at all';
    throw new AgentKitError('NETWORK_ERROR', `The network request to ${url.host} got no answer ${why}.`, {
      suggestion: 'Check that the aggregator can be reached, and try again.',
    });
  }
}

async function readCapped({ body }: Response, signal: AbortSignal): Promise<string> {
  if (!body) return '';
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of readChunks(body as ReadableStream<Uint8Array>, signal)) {
    parts.push(part);
    size += part.length;
    if (size > MAX_ANSWER_BYTES) {
      throw new AgentKitError(
        'PROTOCOL_FAILED',
        `The answer of 0x was rejected: it is longer than ${MAX_ANSWER_BYTES} bytes.`,
      );
    }
  }
  return new TextDecoder().decode(concatBytes(parts));
}

/** Refusals have the shape `{ name, message, data }`. */
function explainRefusal(status: number, body: unknown, apiKey: string): AgentKitError {
  const { name, message } = isRecord(body) ? body : {};
  const said = [name, message].filter((part) => typeof part === 'string').join(': ');
  // Servers often repeat a key that they refuse.
  const reason = said === '' ? '' : `: ${quoteReason(said.replaceAll(apiKey, '…'), 'PROTOCOL_FAILED')}`;
  return new AgentKitError('PROTOCOL_FAILED', `0x refused with status ${status}${reason}.`, { details: { status } });
}

/** The calldata of a long route has several kilobytes. */
const MAX_CALLDATA_LENGTH = 200_000;

const baseUnits = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform((text) => BigInt(text))
  .refine((amount) => amount < 2n ** 256n);
const address = z
  .string()
  .refine((text) => isAddress(text, { strict: false }))
  .transform((text) => getAddress(text));
const calldata = z
  .string()
  .max(MAX_CALLDATA_LENGTH)
  .refine((text) => isHex(text) && text.length % 2 === 0 && text.length >= 10)
  .transform((text) => text as `0x${string}`);

const price = z.object({
  liquidityAvailable: z.literal(true),
  sellToken: address,
  buyToken: address,
  sellAmount: baseUnits,
  buyAmount: baseUnits,
  minBuyAmount: baseUnits,
  allowanceTarget: address.nullable(),
  issues: z.object({ allowance: z.object({ spender: address }).nullable() }),
  fees: z.object({ zeroExFee: z.object({ amount: baseUnits, token: address }).nullable() }),
});
const noLiquidity = z.object({ liquidityAvailable: z.literal(false) });

/** The used fields of the answer to `/swap/allowance-holder/price`. */
export const priceSchema = z.discriminatedUnion('liquidityAvailable', [price, noLiquidity]);

const quote = price.extend({ transaction: z.object({ to: address, data: calldata, value: baseUnits }) });

/** The used fields of the answer to `/swap/allowance-holder/quote`. */
export const quoteSchema = z.discriminatedUnion('liquidityAvailable', [quote, noLiquidity]);

export type ZeroExPrice = z.output<typeof price>;
export type ZeroExQuote = z.output<typeof quote>;
