import { setTimeout as sleep } from 'node:timers/promises';

import type { AgentJobEvent } from '@tollgate/protocol';

export interface EventFollower {
  /** Every event received, in order, including repeats. */
  events: AgentJobEvent[];
  /** Resolves when the stream is open for the first time; later events are received. */
  ready: Promise<void>;
  /** How often the stream was opened. */
  opened(): number;
  stop(): Promise<void>;
}

export interface FollowOptions {
  baseUrl: string;
  token: string;
  onEvent?: (event: AgentJobEvent) => void;
}

const RECONNECT_MS = 200;

/** Reads a gateway's server-sent events of agent jobs; a broken stream is resumed after the last event. */
export function followEvents({ baseUrl, token, onEvent = () => undefined }: FollowOptions): EventFollower {
  const stop = new AbortController();
  const events: AgentJobEvent[] = [];
  let lastId: string | null = null;
  let isOpen: () => void = () => undefined;
  let opened = 0;
  const ready = new Promise<void>((resolve) => (isOpen = resolve));
  const take = (id: string, data: string) => {
    lastId = id;
    const event = JSON.parse(data) as AgentJobEvent;
    // The stream also has events about itself.
    if ((event as Partial<AgentJobEvent>).jobId === undefined) return;
    events.push(event);
    onEvent(event);
  };
  const read = async () => {
    const response = await fetch(new URL('/agent/events', baseUrl), {
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'text/event-stream',
        ...(lastId === null ? {} : { 'last-event-id': lastId }),
      },
      signal: stop.signal,
    });
    if (response.status >= 400 && response.status < 500) throw new Error(`/agent/events: ${await response.text()}`);
    if (!response.ok || !response.body) return;
    isOpen();
    opened += 1;
    await readFrames(response.body, take);
  };
  const following = (async () => {
    while (!stop.signal.aborted) {
      await read().catch((error: unknown) => {
        if (error instanceof Error && error.message.startsWith('/agent/events')) throw error;
      });
      await sleep(RECONNECT_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  following.catch(() => undefined);
  return {
    events,
    ready,
    opened: () => opened,
    stop: async () => {
      stop.abort();
      await following;
    },
  };
}

/** Frames of `id:` and `data:` lines that end with an empty line; comments only keep the connection open. */
async function readFrames(body: ReadableStream<Uint8Array>, take: (id: string, data: string) => void): Promise<void> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const lines = frame.split('\n');
      const valueOf = (name: string) =>
        lines
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).trimStart())
          .join('\n');
      const [id, data] = [valueOf('id'), valueOf('data')];
      if (id !== '' && data !== '') take(id, data);
    }
  }
}
