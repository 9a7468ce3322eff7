import type { AgentJobEvent } from '@tollgate/protocol';

import { hmacSha256 } from './hmac.js';
import { parseAgentJobEvent } from './parse-agent-job-event.js';

/** `Headers` of a request, or an object of them as Node's servers have it. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyWebhookOptions {
  /** How much older or newer than now the delivery may be: our clocks differ, and it was on its way. Default 5 minutes. */
  toleranceMs?: number;
  nowMs?: number;
}

/** Why a request is not believed. */
export type WebhookFault = 'header_missing' | 'timestamp_wrong' | 'signature_wrong' | 'event_unreadable';

export class WebhookError extends Error {
  override readonly name = 'WebhookError';

  constructor(
    readonly code: WebhookFault,
    message: string,
  ) {
    super(message);
  }
}

/**
 * The event that a webhook delivered. It may come again under the same `id`: do what it asks for once.
 * @param body as it came, before any parsing
 * @param secret of the answer to the registration
 * @throws WebhookError when the request is not the gateway's, or too old to be; TypeError without a secret
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: string,
  secret: string,
  { toleranceMs = 300_000, nowMs = Date.now() }: VerifyWebhookOptions = {},
): Promise<AgentJobEvent> {
  const timestamp = readHeader(headers, 'tollgate-timestamp');
  const signature = readHeader(headers, 'tollgate-signature');
  if (timestamp === null || signature === null) {
    throw new WebhookError('header_missing', 'Tollgate-Timestamp or Tollgate-Signature is missing.');
  }
  const atMs = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN;
  if (!(Math.abs(nowMs - atMs) <= toleranceMs)) {
    throw new WebhookError('timestamp_wrong', 'The request was not signed just now.');
  }
  if (!isEqual(signature, `v1=${toHex(await hmacSha256(secret, `${timestamp}.${body}`))}`)) {
    throw new WebhookError('signature_wrong', 'The signature is not one of this secret for this body.');
  }
  const event = parseAgentJobEvent(body);
  if (event === null) throw new WebhookError('event_unreadable', 'The body is no event that is known here.');
  return event;
}

function readHeader(headers: WebhookHeaders, name: string): string | null {
  // Not by instanceof: another implementation's Headers, or another realm's, is as good.
  if (typeof headers.get === 'function') return (headers as Headers).get(name);
  const entries: [string, unknown][] = Object.entries(headers);
  const entry = entries.find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof entry === 'string' ? entry : null;
}

/** Takes as long wherever they differ. */
function isEqual(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let index = 0; index < one.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
