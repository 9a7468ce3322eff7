import { createJobsClient } from '@tollgate/client/jobs';
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

/** Collects a gateway's events of agent jobs; a broken stream is resumed after the last event. */
export function followEvents({ baseUrl, token }: { baseUrl: string; token: string }): EventFollower {
  const stop = new AbortController();
  const events: AgentJobEvent[] = [];
  let isOpen: () => void = () => undefined;
  let opened = 0;
  const ready = new Promise<void>((resolve) => (isOpen = resolve));
  const openStream: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    if (!response.ok) return response;
    opened += 1;
    isOpen();
    return response;
  };
  const jobs = createJobsClient({ baseUrl, apiKey: token, fetch: openStream });
  const following = (async () => {
    for await (const event of jobs.events({ signal: stop.signal })) events.push(event);
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
