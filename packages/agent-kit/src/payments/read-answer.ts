import { parseJson } from '@tollgate/client/internal';
import { isRecord, ownField } from '@tollgate/protocol';
import { concatBytes } from 'viem';

import { quoteReason } from '../types/agent-kit-error.js';
import { cleanUntrusted } from '../types/untrusted-text.js';

// A few thousand words of a model's context; use the paying client for the whole answer.
const MAX_BODY_BYTES = 16 * 1024;
const TEXTUAL = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml)\b)/i;

export interface PaidAnswer {
  status: number;
  contentType: string | null;
  /** One line of printable characters, at most 16 KiB of untrusted text. Null when the answer is not text. */
  body: string | null;
  /** Whether the answer had more than `body`, or may have had more because it ended too late. */
  isBodyCut: boolean;
}

/** The beginning of an answer, safe to show. Reads only as much as it shows, for at most `timeoutMs`. */
export async function readAnswer(response: Response, timeoutMs: number): Promise<PaidAnswer> {
  const { status, headers } = response;
  const type = headers.get('content-type');
  const contentType = type === null ? null : cleanUntrusted(type, 100);
  if (type !== null && !TEXTUAL.test(type)) {
    await response.body?.cancel().catch(() => undefined);
    return { status, contentType, body: null, isBodyCut: response.body !== null };
  }
  const { bytes, isWhole } = await readFirstBytes(response, { maxBytes: MAX_BODY_BYTES, timeoutMs });
  // Leaves a character out of which only a part was read.
  const text = new TextDecoder().decode(bytes, { stream: !isWhole });
  return { status, contentType, body: cleanUntrusted(text, MAX_BODY_BYTES), isBodyCut: !isWhole };
}

/** Where servers say why, most exact first: problem details, x402 and its facilitators, and APIs in general. */
const REASONS = ['detail', 'errorReason', 'invalidReason', 'errorMessage', 'error', 'message', 'title'];

/** A server's own reason in the body of a failure, as `: "…"`; empty if it gives none. */
export function quoteServerReason(body: string | null): string {
  const reason = body === null ? '' : findReason(body);
  return reason === '' ? '' : `: ${quoteReason(reason, 'PAYMENT_FAILED')}`;
}

/** The same of an answer whose body is not read yet. */
export async function readServerReason(response: Response, timeoutMs: number): Promise<string> {
  return quoteServerReason((await readAnswer(response, timeoutMs)).body);
}

function findReason(body: string): string {
  const parsed = parseJson(body);
  const inner = isRecord(parsed) ? ownField(parsed, 'error') : undefined;
  const said = [parsed, inner].filter(isRecord).flatMap((object) => REASONS.map((name) => ownField(object, name)));
  return (said.find((text) => typeof text === 'string' && text !== '') as string | undefined) ?? body;
}

/** The first bytes of an answer: those that arrive within the time, and whether these are all. */
export async function readFirstBytes(
  { body }: Response,
  { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number },
): Promise<{ bytes: Uint8Array; isWhole: boolean }> {
  if (!body) return { bytes: new Uint8Array(), isWhole: true };
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeUp = new Promise<null>((resolve) => (timer = setTimeout(resolve, timeoutMs, null)));
  const parts: Uint8Array[] = [];
  let length = 0;
  let isWhole = false;
  try {
    while (length <= maxBytes) {
      const part = await Promise.race([reader.read(), timeUp]);
      if (part === null) break;
      if (part.done) {
        isWhole = true;
        break;
      }
      parts.push(part.value);
      length += part.value.byteLength;
    }
  } catch {
    // The connection broke: the part that arrived was paid for, and is shown.
  } finally {
    clearTimeout(timer);
    // Ends the payment, before the answer is reported.
    await reader.cancel().catch(() => undefined);
  }
  return { bytes: concatBytes(parts).subarray(0, maxBytes), isWhole };
}
