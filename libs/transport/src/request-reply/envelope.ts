/** A request as stored in the list. `replyTo` is null for an event, which has no reply. */
export interface RequestEnvelope {
  v: 1;
  id: string;
  pattern: string;
  data: unknown;
  replyTo: string | null;
  /** On the clock of the queue's Redis. */
  deadlineMs: number;
  requestId: string;
}

export type ReplyEnvelope = { v: 1; id: string; data: unknown } | { v: 1; id: string; error: ReplyError };

export interface ReplyError {
  code: 'no_handler' | 'handler_failed';
  message: string;
}

/** Names of the Redis keys of one queue; the hash tag keeps them in one cluster slot. */
export interface QueueKeys {
  requests: string;
  repliesPrefix: string;
}

/** The most envelopes of one push: Lua's `unpack` is limited to some 8,000 values. */
export const MAX_PUSH = 1000;

/** Longer requests are rejected by clients, and skipped by servers without parsing. */
export const MAX_ENVELOPE_LENGTH = 262_144;

export function createQueueKeys(queue: string): QueueKeys {
  return { requests: `tollgate:{${queue}}:requests`, repliesPrefix: `tollgate:{${queue}}:replies:` };
}

/** The list for requests with this routing key, which only servers with the same key serve. */
export function routeRequests({ requests }: QueueKeys, routingKey: string | undefined): string {
  return routingKey === undefined ? requests : `${requests}:${routingKey}`;
}

/** Parses a request of this version; null for anything else, since a list can hold any text. */
export function parseRequest(text: string, keys: QueueKeys): RequestEnvelope | null {
  const value: Partial<Record<keyof RequestEnvelope, unknown>> | null = parseObject(text);
  if (value === null || value.v !== 1) return null;
  const { id, pattern, replyTo, deadlineMs, requestId } = value;
  if (typeof id !== 'string' || id.length > 128 || typeof pattern !== 'string' || value.data === undefined) return null;
  // A reply pushed to any other key could damage the data there.
  if (replyTo !== null && !(typeof replyTo === 'string' && replyTo.startsWith(keys.repliesPrefix))) return null;
  if (typeof deadlineMs !== 'number' || typeof requestId !== 'string') return null;
  return value as RequestEnvelope;
}

export function parseReply(text: string): ReplyEnvelope | null {
  const value: { v?: unknown; id?: unknown; data?: unknown; error?: unknown } | null = parseObject(text);
  if (value === null || value.v !== 1 || typeof value.id !== 'string') return null;
  if (value.error === undefined) return 'data' in value ? (value as ReplyEnvelope) : null;
  const error: Partial<ReplyError> | null = typeof value.error === 'object' ? value.error : null;
  return typeof error?.code === 'string' && typeof error.message === 'string' ? (value as ReplyEnvelope) : null;
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
