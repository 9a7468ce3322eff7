import { toBase64 } from '../present/digest.js';
import type { Answer } from './answer.js';

/** A handler's response, with headers as frameworks represent them. */
export interface SoldAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, number | string | readonly string[] | undefined>>;
  readonly body: string | Uint8Array | null;
}

/** A `SoldAnswer` as JSON, with the body in base64. */
export interface PackedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string;
}

/** Headers that concern one connection or are derived from the body. */
const NOT_KEPT = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']);

/** Null if the body is longer than `maxBytes`. */
export function packAnswer({ status, headers, body }: SoldAnswer, maxBytes: number): PackedAnswer | null {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : (body ?? new Uint8Array());
  if (bytes.length > maxBytes) return null;
  const kept = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || NOT_KEPT.has(name.toLowerCase())
      ? []
      : [[name.toLowerCase(), typeof value === 'object' ? [...value] : String(value)] as const],
  );
  return { status, headers: Object.fromEntries(kept), body: toBase64(bytes) };
}

export function unpackAnswer({ status, headers, body }: PackedAnswer): Answer {
  return { status, headers, body: Uint8Array.from(atob(body), (character) => character.charCodeAt(0)) };
}
