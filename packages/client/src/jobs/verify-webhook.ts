import type { AgentJobEvent } from '@tollgate/protocol';

import { toHex } from '../sign/hex.js';
import { hmacSha256 } from './hmac.js';
import { parseAgentJobEvent } from './parse-agent-job-event.js';

/** `Headers` of a request, or a plain object as in Node's servers. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyWebhookOptions {
  /**
   * How far the timestamp of the delivery may differ from now, in either direction: clocks differ, and delivery takes
   * time. Default 5 minutes.
   */
  toleranceMs?: number;
  nowMs?: number;
}

/** Why a request is not authentic. */
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
 * Verifies a delivery of an agent job's event and returns the event. It may arrive again under the same `id`: act on it
 * once.
 * @param body the raw body, before any parsing
 * @param secret from the answer to the registration
 * @throws WebhookError when the request is not from the gateway, or is too old; TypeError without a secret
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: string,
  secret: string,
  options: VerifyWebhookOptions = {},
): Promise<AgentJobEvent> {
  await verifyWebhookSignature(headers, body, secret, options);
  const event = parseAgentJobEvent(body);
  if (event === null) throw new WebhookError('event_unreadable', 'The body is not a known event.');
  return event;
}

/**
 * Verifies who posted a delivery of any kind, such as a payment's event from the bookkeeper. Parse the body afterwards.
 * @throws WebhookError when the request is not from the holder of the secret, or is too old; TypeError without a secret
 */
export async function verifyWebhookSignature(
  headers: WebhookHeaders,
  body: string,
  secret: string,
  { toleranceMs = 300_000, nowMs = Date.now() }: VerifyWebhookOptions = {},
): Promise<void> {
  const timestamp = readHeader(headers, 'tollgate-timestamp');
  const signature = readHeader(headers, 'tollgate-signature');
  if (timestamp === null || signature === null) {
    throw new WebhookError('header_missing', 'Tollgate-Timestamp or Tollgate-Signature is missing.');
  }
  const atMs = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN;
  if (!(Math.abs(nowMs - atMs) <= toleranceMs)) {
    throw new WebhookError('timestamp_wrong', 'The timestamp of the request is too far from the current time.');
  }
  if (!isEqual(signature, `v1=${toHex(await hmacSha256(secret, `${timestamp}.${body}`))}`)) {
    throw new WebhookError('signature_wrong', 'The signature does not match this secret and body.');
  }
}

function readHeader(headers: WebhookHeaders, name: string): string | null {
  // Not by instanceof: Headers of another implementation or realm are accepted too.
  if (typeof headers.get === 'function') return (headers as Headers).get(name);
  const entries: [string, unknown][] = Object.entries(headers);
  const entry = entries.find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof entry === 'string' ? entry : null;
}

/** Takes the same time wherever the two differ. */
function isEqual(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let index = 0; index < one.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}
