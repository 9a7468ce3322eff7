import { z } from 'zod';

const data = z.unknown().refine((value): boolean => value !== undefined);

const requestEnvelope = z.object({
  v: z.literal(1),
  id: z.string().max(128),
  pattern: z.string(),
  data,
  /** Null for an event, which has no reply. */
  replyTo: z.string().nullable(),
  /** On the clock of the queue's Redis. */
  deadlineMs: z.number(),
  requestId: z.string(),
});
/** A request as stored in the list. */
export type RequestEnvelope = z.output<typeof requestEnvelope>;

/** `no_handler`, `handler_failed`, or a code that only a later release knows. */
const replyError = z.object({ code: z.string(), message: z.string() });
export type ReplyError = z.output<typeof replyError>;

const replyEnvelope = z.union([
  z.object({ v: z.literal(1), id: z.string(), error: replyError }),
  z.object({ v: z.literal(1), id: z.string(), data, error: z.never().exactOptional() }),
]);
export type ReplyEnvelope = z.output<typeof replyEnvelope>;

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
  const request = parseEnvelope(requestEnvelope, text);
  // A reply pushed to any other key could damage the data there.
  return request?.replyTo?.startsWith(keys.repliesPrefix) === false ? null : request;
}

export function parseReply(text: string): ReplyEnvelope | null {
  return parseEnvelope(replyEnvelope, text);
}

function parseEnvelope<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
