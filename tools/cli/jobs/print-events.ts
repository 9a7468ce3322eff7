import { setTimeout as sleep } from 'node:timers/promises';

import { nameLane, type JobEvent, type Journal } from '@tollgate/journal';

import { formatTime } from '../shared/format-table.js';
import { clean } from './format-jobs.js';

const POLL_MS = 500;

export interface EventPrinting {
  /** The number of latest events that come first. */
  limit: number;
  isFollowing: boolean;
  isJson: boolean;
  print: (text: string) => void;
  signal?: AbortSignal;
}

/**
 * The events of jobs, oldest first, as text. To follow, prints them and every new event until the signal is aborted.
 */
export async function printEvents(journal: Journal, options: EventPrinting): Promise<string> {
  const { limit, isFollowing, isJson, print, signal } = options;
  const format = (event: JobEvent): string => (isJson ? JSON.stringify(event) : formatEvent(event));
  const positions = new Map<string, number>();
  const latest: JobEvent[] = [];
  for (const lane of await journal.readLanes()) {
    const { lastSequence } = await journal.readLane(lane);
    const events = await journal.outbox.read(lane, { after: Math.max(0, lastSequence - limit), count: limit });
    positions.set(nameLane(lane), events.at(-1)?.sequence ?? lastSequence);
    latest.push(...events);
  }
  const sorted = latest.sort((one, other) => one.atMs - other.atMs).slice(-limit);
  if (!isFollowing)
    return sorted.length > 0 || isJson ? sorted.map(format).join('\n') : 'No job has reported an event yet.';
  sorted.map(format).forEach(print);
  while (signal?.aborted !== true) {
    for (const lane of await journal.readLanes()) {
      const name = nameLane(lane);
      for (const event of await journal.outbox.read(lane, { after: positions.get(name) ?? 0 })) {
        print(format(event));
        positions.set(name, event.sequence);
      }
    }
    await sleep(POLL_MS, undefined, signal ? { signal } : {}).catch(() => undefined);
  }
  return '';
}

function formatEvent({ atMs, type, operation, jobId, state, txHash, error }: JobEvent): string {
  const facts = [txHash, error && `${error.code}: ${clean(error.message)}`].filter((fact) => fact !== undefined);
  return [formatTime(atMs), type.padEnd(20), operation.padEnd(18), jobId, state, ...facts].join('  ');
}
