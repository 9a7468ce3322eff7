import { encodeBase64, IDEMPOTENT_REPLAYED, instructsSharedCaches, X_PAYMENT_RELEASED } from '@tollgate/protocol';

/** A response of the gate that replaces the handler's: the gate's own, or one that was sold and stored. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

/** A JSON response that no cache may store, since a 402 is for one request only. */
export function createAnswer(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
    body: JSON.stringify(body),
  };
}

/** The outcome is open: the client should send the same request with the same payment again. */
export function createRetryAnswer(
  status: 409 | 503,
  error: string,
  headers: Readonly<Record<string, string>> = {},
  facts: object = {},
): Answer {
  return createAnswer(status, { error, ...facts }, { 'Retry-After': '2', ...headers });
}

/**
 * The payment was used, and this server does not know what for: another one may have settled it, and have its answer. So
 * its payer is not asked for another one.
 * @param closesAtMs Unix time from which none has
 */
export function createUsedAnswer(closesAtMs: number): Answer {
  if (Date.now() < closesAtMs) return createRetryAnswer(503, 'payment_used');
  return createFinalAnswer('payment_used');
}

/** The payment may have been settled for an answer that its payer cannot have any more. The owner of this server knows. */
export function createOwedAnswer(): Answer {
  return createFinalAnswer('payment_owed');
}

/** By the header a client tells it from a failure after which its payment is still good. */
export function createFinalAnswer(error: string): Answer {
  return createAnswer(410, { error }, { [IDEMPOTENT_REPLAYED]: 'true' });
}

/** The handler was busy a moment ago, and is not asked before its time. @param isReleased nothing was settled so far */
export function createBusyAnswer(retryAfterMs: number, isReleased: boolean): Answer {
  const headers = { 'Retry-After': toSeconds(retryAfterMs), ...(isReleased && { [X_PAYMENT_RELEASED]: 'true' }) };
  return createRetryAnswer(503, 'resource_busy', headers);
}

/** As `Retry-After` states them. */
export function toSeconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)));
}

/**
 * Nothing was settled, and nothing will be until the operator of this server fixes it, so there is no `Retry-After`.
 */
export function createRefusedAnswer(): Answer {
  const detail =
    'The facilitator refused this server. Nothing was paid: the same payment stays valid until the server is fixed.';
  return createAnswer(500, { error: 'facilitator_refused', detail }, { [X_PAYMENT_RELEASED]: 'true' });
}

/** A handler's response, with headers as frameworks represent them. */
export interface SoldAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, number | string | readonly string[] | undefined>>;
  readonly body: string | Uint8Array | null;
  /** It goes on after `body`: it is sent as it comes, and not stored. */
  readonly isOpen?: boolean;
}

/** A `SoldAnswer` as JSON, with the body in base64. */
export interface PackedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string;
}

/** Headers that concern one connection or are derived from the body. */
const NOT_KEPT = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']);

/** Null if the body is longer than `maxBytes`, or goes on. */
export function packAnswer(
  { status, headers, body, isOpen = false }: SoldAnswer,
  maxBytes: number,
): PackedAnswer | null {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : (body ?? new Uint8Array());
  if (isOpen || bytes.length > maxBytes) return null;
  const kept = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || NOT_KEPT.has(name.toLowerCase())
      ? []
      : [[name.toLowerCase(), typeof value === 'object' ? [...value] : String(value)] as const],
  );
  return { status, headers: Object.fromEntries(kept), body: encodeBase64(bytes) };
}

/** Without the headers by which a shared cache would store the answer. */
export function unpackAnswer({ status, headers, body }: PackedAnswer): Answer {
  const own = Object.entries(headers).filter(([name]) => !instructsSharedCaches(name));
  return {
    status,
    headers: Object.fromEntries(own),
    body: Uint8Array.from(atob(body), (character) => character.charCodeAt(0)),
  };
}
