import { onlyFields, refuseRequest, textParameter, wordsParameter } from '@tollgate/common';
import { codeOfLane, readEventId, type Journal, type LaneId } from '@tollgate/journal';
import { EVENT_TYPES } from '@tollgate/protocol';
import type { z } from 'zod';

export const eventQuery = onlyFields({
  type: wordsParameter(EVENT_TYPES)
    .optional()
    .describe(`One or more of ${EVENT_TYPES.join(', ')}, separated by commas.`),
  jobId: textParameter.optional().describe('Only events of this job.'),
});
export type EventFilter = z.output<typeof eventQuery>;

/** The position from which a client receives events. */
export interface EventStart {
  readonly cursor: Map<string, number>;
  /** Earlier events are omitted. Used for lanes of which only a time is known, not a sequence. */
  readonly notBeforeMs: number;
}

/** Lanes are not sent in the order of their events, so events this close to a known one may not have been sent. */
const OVERLAP_MS = 60_000;
/** The most events that are repeated to a client whose position was lost. */
const MAX_REPEATED = 200;

/**
 * Reads `Last-Event-ID`: the `id` of a stream's block, or of an event received by other means. Without one, the client
 * gets only new events.
 * @param positions the current positions of all lanes
 * @throws ProblemError for any other value
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
  if (event === null) throw refuseRequest(['Last-Event-ID must be the id of an event, or must be left out.']);
  return startAfter(journal, event);
}

/** Starts the other lanes at about the time of the event: a repeated event is better than a missing one. */
async function startAfter(journal: Journal, event: { jobId: string; sequence: number }): Promise<EventStart> {
  const lanes = await journal.readLanes();
  const lane = lanes.find((one) => event.jobId.startsWith(`${codeOfLane(one)}-`));
  if (lane === undefined) throw refuseRequest(['Last-Event-ID names an event of an unknown wallet.']);
  const [found] = await journal.outbox.read(lane, { after: event.sequence - 1, count: 1 });
  const code = codeOfLane(lane);
  if (found?.sequence === event.sequence && found.jobId === event.jobId) {
    return { cursor: new Map([[code, event.sequence]]), notBeforeMs: found.atMs - OVERLAP_MS };
  }
  const { lastSequence } = await journal.readLane(lane);
  // No longer stored, or unreadable; or the journal lost it, and another one may have its sequence.
  const isLost = event.sequence > lastSequence || found?.sequence === event.sequence;
  const sequence = isLost ? await findRecent(journal, lane, lastSequence) : event.sequence;
  return { cursor: new Map([[code, sequence]]), notBeforeMs: 0 };
}

/**
 * A position beyond a lane's last event belongs to events that the journal lost. That lane continues from its recent
 * events, some of which may be repeated.
 */
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

/**
 * The position before the lane's events of the last minute, up to a limit: a repeated event is better than a missing
 * one.
 */
export async function findRecent(journal: Journal, lane: LaneId, lastSequence: number): Promise<number> {
  const events = await journal.outbox.read(lane, {
    after: Math.max(lastSequence - MAX_REPEATED, 0),
    count: MAX_REPEATED,
  });
  const sinceMs = Date.now() - OVERLAP_MS;
  const first = events.find(({ atMs }) => atMs >= sinceMs);
  return first === undefined ? lastSequence : first.sequence - 1;
}

/** A client's position: the sequence of the last event it received from each lane, by the lane's code. */
export type EventCursor = ReadonlyMap<string, number>;

const MAX_LENGTH = 8_192;
const PLACE = /^(j[0-9a-f]{8})-([0-9a-z]{1,10})$/;

/** Encodes all positions in one opaque word, which clients send back unchanged. */
export function writeCursor(cursor: EventCursor): string {
  return ['e1', ...[...cursor].map(([code, sequence]) => `${code}-${sequence.toString(36)}`)].join('.');
}

/** Null for text that is not a cursor. */
function readCursor(text: string): Map<string, number> | null {
  if (text.length > MAX_LENGTH) return null;
  const [version, ...places] = text.split('.');
  const cursor = new Map<string, number>();
  for (const place of places) {
    const [, code, digits = ''] = PLACE.exec(place) ?? [];
    const sequence = Number.parseInt(digits, 36);
    if (code === undefined || !Number.isSafeInteger(sequence)) return null;
    cursor.set(code, sequence);
  }
  return version === 'e1' ? cursor : null;
}
