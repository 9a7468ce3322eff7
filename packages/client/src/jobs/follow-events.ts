import type { AgentJobEvent, JobEventType } from '@tollgate/protocol';

import { parseJson, readChunks } from '../network/read-body.js';
import { sleep } from '../network/sleep.js';
import { AgentJobsError } from './agent-jobs-error.js';
import { isWorthRepeating, type GatewayConnection } from './gateway-connection.js';
import { parseAgentJobEvent } from './parse-agent-job-event.js';
import { readEventStream, type StreamState } from './read-event-stream.js';

export interface EventOptions {
  /** If omitted: all. */
  types?: readonly JobEventType[];
  /** Only events of this job. */
  jobId?: string;
  /** Continues after this event: its `lastEventId`, or its `id`. If omitted: starts now. */
  lastEventId?: string;
  /** Ends the iteration when it is aborted. */
  signal?: AbortSignal;
  /** Called when the gateway no longer stores up to this many of the events: read the jobs themselves instead. */
  onMissed?: (atMost: number) => void;
  /** A connection that is silent for this long is replaced by a new one. Default 60 seconds. */
  silenceMs?: number;
}

/** An event, and the `lastEventId` with which to continue after it. */
export interface FollowedEvent extends AgentJobEvent {
  lastEventId: string;
}

interface FollowState extends StreamState {
  /** Delay before the next connection; doubles with each failed one. */
  pauseMs: number;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Yields events as they happen, across interruptions: each at least once, under the same `id`. Leaving the loop closes
 * the connection.
 * @throws AgentJobsError when the gateway refuses: a revoked key, an invalid `lastEventId`
 */
export async function* followEvents(
  connection: GatewayConnection,
  options: EventOptions = {},
): AsyncGenerator<FollowedEvent, void, undefined> {
  const { lastEventId = '', onMissed, signal } = options;
  const state: FollowState = { lastId: lastEventId, retryMs: null, pauseMs: FIRST_PAUSE_MS };
  while (signal?.aborted !== true) {
    let waitMs: number | null = null;
    try {
      for await (const { id, type, data } of readEventStream(openStream(connection, options, state), state)) {
        const event = parseAgentJobEvent(data);
        if (event) yield { ...event, lastEventId: id };
        else if (type === 'eventsMissed') onMissed?.(readCount(data));
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof AgentJobsError) || !isWorthRepeating(error)) throw error;
      waitMs = error.retryAfterMs;
    }
    await sleep(waitMs ?? Math.max(state.retryMs ?? 0, state.pauseMs), signal ?? null).catch(() => undefined);
    state.pauseMs = Math.min(state.pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/**
 * The bytes of one connection. Also ends when the connection breaks or falls silent; in both cases a new one is opened.
 */
async function* openStream(
  connection: GatewayConnection,
  { types, jobId, signal, silenceMs = 60_000 }: EventOptions,
  state: FollowState,
): AsyncGenerator<Uint8Array, void, undefined> {
  const closing = new AbortController();
  const close = (): void => closing.abort();
  let timer = setTimeout(close, silenceMs);
  signal?.addEventListener('abort', close, { once: true });
  try {
    const response = await connection.open({
      method: 'GET',
      path: '/agent/events',
      query: { type: types?.join(','), jobId },
      headers: { Accept: 'text/event-stream', ...(state.lastId !== '' && { 'Last-Event-ID': state.lastId }) },
      signal: closing.signal,
    });
    state.pauseMs = FIRST_PAUSE_MS;
    const chunks = readChunks(response.body as ReadableStream<Uint8Array>, closing.signal);
    for (;;) {
      const chunk = await chunks.next().catch(() => null);
      clearTimeout(timer);
      if (chunk === null || chunk.done) return;
      yield chunk.value;
      timer = setTimeout(close, silenceMs);
    }
  } catch (error) {
    // The connection was silent before its answer began.
    if (!closing.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', close);
    closing.abort();
  }
}

function readCount(data: string): number {
  const { atMost } = Object(parseJson(data)) as { atMost?: unknown };
  return typeof atMost === 'number' ? atMost : 0;
}
