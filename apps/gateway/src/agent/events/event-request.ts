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
  /** When the latest event of the position happened. */
  readonly latestMs: number;
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
 * @param now the current position in all lanes
 * @throws ProblemError for any other value
 */
export async function readStart(
  journal: Journal,
  lastEventId: string | undefined,
  now: EventPosition,
): Promise<EventStart> {
  if (lastEventId === undefined || lastEventId === '') {
    return { cursor: new Map(now.cursor), latestMs: now.latestMs, notBeforeMs: 0 };
  }
  const position = readPosition(lastEventId);
  if (position !== null) return { ...(await forgetLost(journal, position)), notBeforeMs: 0 };
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
    return { cursor: new Map([[code, event.sequence]]), latestMs: found.atMs, notBeforeMs: found.atMs - OVERLAP_MS };
  }
  const { lastSequence } = await journal.readLane(lane);
  // No longer stored, or unreadable; or the journal lost it, and another one may have its sequence.
  const isLost = event.sequence > lastSequence || found?.sequence === event.sequence;
  const sequence = isLost ? await findRecent(journal, lane, lastSequence) : event.sequence;
  return { cursor: new Map([[code, sequence]]), latestMs: Date.now(), notBeforeMs: 0 };
}

/**
 * Where a lane's event at the client's position is missing, or later than all that the client has, the journal lost events
 * that the client has, and others may have their sequences. That lane continues with the first event that is later.
 */
async function forgetLost(
  journal: Journal,
  { cursor, latestMs }: ReadPosition,
): Promise<Omit<EventStart, 'notBeforeMs'>> {
  const forget = async (lane: LaneId): Promise<void> => {
    const code = codeOfLane(lane);
    const sequence = cursor.get(code) ?? 0;
    if (sequence === 0) return;
    const [[stored], { lastSequence }] = await Promise.all([
      journal.outbox.read(lane, { after: sequence - 1, count: 1 }),
      journal.readLane(lane),
    ]);
    const isOther = stored?.sequence === sequence && latestMs !== null && stored.atMs > latestMs;
    if (sequence <= lastSequence && !isOther) return;
    const last = Math.min(sequence, lastSequence);
    cursor.set(
      code,
      latestMs === null ? await findRecent(journal, lane, last) : await findLater(journal, lane, last, latestMs),
    );
  };
  await Promise.all((await journal.readLanes()).map(forget));
  return { cursor, latestMs: latestMs ?? Date.now() };
}

/** The position before the lane's first event after a time, which is at the latest the one after `last`. */
async function findLater(journal: Journal, lane: LaneId, last: number, sinceMs: number): Promise<number> {
  for (let end = last; end > 0;) {
    const after = Math.max(end - MAX_REPEATED, 0);
    const events = await journal.outbox.read(lane, { after, count: end - after });
    const [oldest] = events;
    // Earlier ones are no longer stored.
    if (oldest === undefined || oldest.sequence > after + 1) return after;
    if (oldest.atMs <= sinceMs) return (events.find(({ atMs }) => atMs > sinceMs)?.sequence ?? end + 1) - 1;
    end = after;
  }
  return 0;
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

/** The sequence of the last event of each lane, by the lane's code. */
export type EventCursor = ReadonlyMap<string, number>;

/** A client's position. */
export interface EventPosition {
  readonly cursor: EventCursor;
  /** When the latest event up to here happened, on Redis's clock. */
  readonly latestMs: number;
}

interface ReadPosition {
  readonly cursor: Map<string, number>;
  /** Null: an earlier release wrote it. */
  readonly latestMs: number | null;
}

const MAX_LENGTH = 8_192;
const PLACE = /^(j[0-9a-f]{8})-([0-9a-z]{1,10})$/;
/** Stands for the time, so that an earlier release reads it as one more lane. */
const TIME = 'j00000000';

/** Encodes a position in one opaque word, which clients send back unchanged. */
export function writePosition({ cursor, latestMs }: EventPosition): string {
  const places = [...cursor, [TIME, latestMs] as const];
  return ['e1', ...places.map(([code, number]) => `${code}-${number.toString(36)}`)].join('.');
}

/** Null for text that is not a position. */
function readPosition(text: string): ReadPosition | null {
  if (text.length > MAX_LENGTH) return null;
  const [version, ...places] = text.split('.');
  const cursor = new Map<string, number>();
  for (const place of places) {
    const [, code, digits = ''] = PLACE.exec(place) ?? [];
    const number = Number.parseInt(digits, 36);
    if (code === undefined || !Number.isSafeInteger(number)) return null;
    cursor.set(code, number);
  }
  if (version !== 'e1') return null;
  const latestMs = cursor.get(TIME) ?? null;
  cursor.delete(TIME);
  return { cursor, latestMs };
}
