import { EVENT_TYPES, type JobEventType } from '@tollgate/protocol';
import { codeOfLane, readEventId, type Journal, type LaneId } from '@tollgate/transactions';

import { readQuery, readWords } from '../read-query.js';
import { refuseRequest } from '../request-invalid.js';
import { readCursor, type EventCursor } from './event-cursor.js';

export interface EventFilter {
  readonly types: readonly JobEventType[] | undefined;
  readonly jobId: string | undefined;
}

/** From where on a client wants events. */
export interface EventStart {
  readonly cursor: Map<string, number>;
  /** Events before are left out; they come from lanes of which only the time is known. */
  readonly notBeforeMs: number;
}

/** Lanes are not told of in the order of their events: what lies so close may not have been told. */
const OVERLAP_MS = 60_000;
/** As many events are told again to a client whose place was lost. */
const MAX_REPEATED = 200;

/** @throws ProblemError with everything that is wrong with the query */
export function parseEventQuery(query: unknown): EventFilter {
  const reading = readQuery(query, ['type', 'jobId']);
  const types = readWords(reading, 'type', EVENT_TYPES);
  if (reading.problems.length > 0) throw refuseRequest(reading.problems);
  return { types, jobId: reading.values.get('jobId') };
}

/**
 * Reads `Last-Event-ID`: what a stream sent as `id`, or the `id` of an event that came some other way. Without one the
 * client gets what happens from now on.
 * @param positions where all lanes are now
 * @throws ProblemError for anything else
 */
export async function readStart(
  journal: Journal,
  lastEventId: string | undefined,
  positions: EventCursor,
): Promise<EventStart> {
  if (lastEventId === undefined || lastEventId === '') return { cursor: new Map(positions), notBeforeMs: 0 };
  const cursor = readCursor(lastEventId);
  if (cursor !== null) return { cursor: await forgetLost(journal, cursor, positions), notBeforeMs: 0 };
  const event = readEventId(lastEventId);
  if (event === null) throw refuseRequest(['Last-Event-ID must be the id of an event, or none.']);
  return startAfter(journal, event);
}

/** The other lanes from about the time of the event on: better twice than not at all. */
async function startAfter(journal: Journal, event: { jobId: string; sequence: number }): Promise<EventStart> {
  const lanes = await journal.readLanes();
  const lane = lanes.find((one) => event.jobId.startsWith(`${codeOfLane(one)}-`));
  if (lane === undefined) throw refuseRequest(['Last-Event-ID names an event of no wallet that is known here.']);
  const [found] = await journal.outbox.read(lane, { after: event.sequence - 1, count: 1 });
  const cursor = new Map([[codeOfLane(lane), event.sequence]]);
  return { cursor, notBeforeMs: found?.sequence === event.sequence ? found.atMs - OVERLAP_MS : 0 };
}

/** A place that no event has yet is one of events that the journal lost: its lane goes on from what has come since, or about. */
async function forgetLost(
  journal: Journal,
  cursor: Map<string, number>,
  positions: EventCursor,
): Promise<Map<string, number>> {
  const isAhead = (lane: LaneId) => (cursor.get(codeOfLane(lane)) ?? 0) > (positions.get(codeOfLane(lane)) ?? 0);
  for (const lane of (await journal.readLanes()).filter(isAhead)) {
    const { lastSequence } = await journal.readLane(lane);
    const code = codeOfLane(lane);
    if ((cursor.get(code) ?? 0) > lastSequence) cursor.set(code, await findRecent(journal, lane, lastSequence));
  }
  return cursor;
}

/** The place before the lane's events of the last minute, of which there may be too many: better twice than not at all. */
async function findRecent(journal: Journal, lane: LaneId, lastSequence: number): Promise<number> {
  const events = await journal.outbox.read(lane, {
    after: Math.max(lastSequence - MAX_REPEATED, 0),
    count: MAX_REPEATED,
  });
  const sinceMs = Date.now() - OVERLAP_MS;
  const first = events.find(({ atMs }) => atMs >= sinceMs);
  return first === undefined ? lastSequence : first.sequence - 1;
}
