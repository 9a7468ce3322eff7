import { STATUS_CODES } from 'node:http';

import { IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED, X_PAYMENT, X_PAYMENT_FAILURE } from '@tollgate/protocol';

export interface Exchange {
  status: number;
  headers: Headers;
  /** The unparsed body. */
  text: string;
  body: unknown;
}

const SHOWN_ANSWER_HEADERS = ['Content-Type', 'Cache-Control', 'Retry-After', X_PAYMENT_FAILURE, IDEMPOTENT_REPLAYED];

/** The terminal's width; unlimited for a pipe. */
const COLUMNS = process.stdout.isTTY ? Math.max(process.stdout.columns || 80, 60) : Infinity;
const shownProofs = new Set<string>();

/** Sends a GET and prints request and answer for people: the headers that matter, the proof decoded, JSON indented. */
export async function showExchange(url: string, headers: Record<string, string> = {}): Promise<Exchange> {
  const { pathname, host } = new URL(url);
  console.log(`  > GET ${pathname}`);
  console.log(`  > Host: ${host}`);
  for (const [name, value] of Object.entries(headers)) showRequestHeader(name, value);

  const response = await fetch(url, { headers });
  const text = await response.text();
  console.log(`\n  < ${response.status} ${STATUS_CODES[response.status] ?? ''}`);
  for (const name of SHOWN_ANSWER_HEADERS) {
    const value = response.headers.get(name);
    if (value !== null) console.log(`  < ${name}: ${value}`);
  }
  const body = parseJson(text);
  showText(typeof body === 'string' ? body : JSON.stringify(body, null, 2), '    ');
  return { status: response.status, headers: response.headers, text, body };
}

function showRequestHeader(name: string, value: string): void {
  if (name !== X_PAYMENT) return console.log(`  > ${name}: ${value}`);
  if (shownProofs.has(value)) return console.log(`  > ${name}: ${value.slice(0, 40)}…   the same as above`);
  shownProofs.add(value);
  console.log(`  > ${name}: ${value.slice(0, 40)}…   base64 of`);
  showText(JSON.stringify(parseJson(Buffer.from(value, 'base64').toString('utf8')), null, 2), '      ');
}

/**
 * Prints the text behind a margin; what does not fit into a line of the terminal loses its middle, random in
 * references.
 */
export function showText(text: string, margin: string): void {
  for (const line of text.split('\n')) {
    const shown = margin + line;
    console.log(shown.length <= COLUMNS ? shown : shorten(shown));
  }
}

function shorten(line: string): string {
  const end = 20;
  return `${line.slice(0, COLUMNS - end - 1)}…${line.slice(-end)}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The headers of a paid request. */
export function paidHeaders(proofHeader: string, retryKey?: string): Record<string, string> {
  return { [X_PAYMENT]: proofHeader, ...(retryKey === undefined ? {} : { [IDEMPOTENCY_KEY]: retryKey }) };
}
