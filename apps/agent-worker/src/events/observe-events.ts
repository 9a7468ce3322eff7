import { observeSamples } from '@tollgate/common';
import type { JobEvent, Journal } from '@tollgate/journal';
import { Counter, type Registry } from 'prom-client';

import type { EventPumps } from './event-pumps.js';

/** Counts delivered events, by consumer and type; for `EventPumpsOptions.onTaken`. */
export function createEventCounter(registry: Registry): (consumer: string, events: readonly JobEvent[]) => void {
  const counter = new Counter({
    name: 'tollgate_agent_events_total',
    help: 'Events that a consumer has taken.',
    labelNames: ['consumer', 'type'],
    registers: [registry],
  });
  return (consumer, events) => {
    for (const { type } of events) counter.inc({ consumer, type });
  };
}

/** How far each consumer is behind, for the lanes that this process holds; read when scraped. */
export function observeEventLag(registry: Registry, pumps: EventPumps, journal: Journal): void {
  const observe = (name: string, help: string, pick: (lag: Lag) => number): void =>
    observeSamples(registry, { name, help, labelNames: ['consumer', 'wallet'] }, async () =>
      (await readLags(pumps, journal)).map((lag) => ({ labels: lag.labels, value: pick(lag) })),
    );
  observe('tollgate_agent_event_lag_events', 'Events that a consumer has not taken.', ({ behind }) => behind);
  const help = 'Age of the oldest event that a consumer has not taken.';
  observe('tollgate_agent_event_lag_seconds', help, ({ ageMs }) => ageMs / 1000);
}

interface Lag {
  labels: { consumer: string; wallet: string };
  behind: number;
  ageMs: number;
}

async function readLags(pumps: EventPumps, journal: Journal): Promise<Lag[]> {
  const lanes = pumps.lanes.map(async ({ lane, wallet }) => {
    const [positions, { lastSequence }] = await Promise.all([
      journal.outbox.readPositions(lane),
      journal.readLane(lane),
    ]);
    const lags = pumps.consumers.map(async ({ name }): Promise<Lag> => {
      const position = positions[name] ?? 0;
      const [oldest] = position < lastSequence ? await journal.outbox.read(lane, { after: position, count: 1 }) : [];
      const ageMs = oldest ? Math.max(0, Date.now() - oldest.atMs) : 0;
      return { labels: { consumer: name, wallet }, behind: Math.max(0, lastSequence - position), ageMs };
    });
    return Promise.all(lags);
  });
  return (await Promise.all(lanes)).flat();
}
