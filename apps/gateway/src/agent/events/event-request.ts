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
export interface EventStart extends EventPosition {
  /** Earlier events are omitted. Used for lanes of which only a time is known, not a sequence. */
  readonly notBeforeMs: number;
}

/** Lanes are not sent in the order of their events, so events this close to a known one may not have been sent. */
const OVERLAP_MS = 60_000;
/** The most events that are repeated to a client whose position was lost. */
const MAX_REPEATED = 200;
const READ_AT_ONCE = 200;

/**
 * Reads `Last-Event-ID`: the `id` of a stream's block, or of an event received by other means. Without one, the client
 * gets only new events.
 * @param now the current position
 * @throws ProblemError for any other value
 */
export async function readStart(
  journal: Journal,
  lastEventId: string | undefined,
  now: EventPosition,
): Promise<EventStart> {
  if (lastEventId === undefined || lastEventId === '') return { ...now, notBeforeMs: 0 };
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
    const { atMs: latestMs } = found;
    return { cursor: new Map([[code, event.sequence]]), latestMs, notBeforeMs: latestMs - OVERLAP_MS };
  }
  const { lastSequence } = await journal.readLane(lane);
  // No longer stored, or unreadable; or the journal lost it, and another one may have its sequence.
  const isLost = event.sequence > lastSequence || found?.sequence === event.sequence;
  const sequence = isLost ? await findRecent(journal, lane, lastSequence) : event.sequence;
  return { cursor: new Map([[code, sequence]]), latestMs: Date.now(), notBeforeMs: 0 };
}

/**
 * A position beyond a lane's last event, or at an event later than all of the client's, belongs to events that the journal
 * lost. That lane continues from about the time of the client's latest event; some events may be repeated.
 */
async function forgetLost(journal: Journal, { cursor, latestMs }: EventPosition): Promise<EventPosition> {
  const forget = async (lane: LaneId): Promise<void> => {
    const code = codeOfLane(lane);
    const sequence = cursor.get(code) ?? 0;
    if (sequence === 0) return;
    const [[found], { lastSequence }] = await Promise.all([
      journal.outbox.read(lane, { after: sequence - 1, count: 1 }),
      journal.readLane(lane),
    ]);
    const isLater = found?.sequence === sequence && found.atMs > latestMs;
    if (sequence <= lastSequence && !isLater) return;
    cursor.set(code, await findLater(journal, lane, Math.min(sequence, lastSequence), latestMs));
  };
  await Promise.all((await journal.readLanes()).map(forget));
  return { cursor, latestMs };
}

/** The position before a lane's first event since about a time, which is at the latest the one after `last`. */
async function findLater(journal: Journal, lane: LaneId, last: number, latestMs: number): Promise<number> {
  const sinceMs = latestMs - OVERLAP_MS;
  for (let end = last; end > 0; end -= READ_AT_ONCE) {
    const after = Math.max(end - READ_AT_ONCE, 0);
    const events = await journal.outbox.read(lane, { after, count: end - after });
    const [oldest] = events;
    // No earlier ones are stored; the stream reports a gap before the next one.
    if (oldest === undefined || oldest.sequence > end) return end;
    if (oldest.atMs < sinceMs) return (events.find(({ atMs }) => atMs >= sinceMs)?.sequence ?? end + 1) - 1;
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

/** The sequence of the last event that a client received from each lane, by the lane's code. */
export type EventCursor = ReadonlyMap<string, number>;

/** A client's position. */
export interface EventPosition {
  readonly cursor: Map<string, number>;
  /** No event up to here happened later. */
  readonly latestMs: number;
}

const MAX_LENGTH = 8_192;
const TIME = /^t([0-9a-z]{1,10})$/;
const PLACE = /^(j[0-9a-f]{8})-([0-9a-z]{1,10})$/;

/** Encodes a position in one opaque word, which clients send back unchanged. */
export function writePosition({ cursor, latestMs }: EventPosition): string {
  const places = [...cursor].map(([code, sequence]) => `${code}-${sequence.toString(36)}`);
  return ['e1', `t${latestMs.toString(36)}`, ...places].join('.');
}

/** Null for text that is not a position. */
function readPosition(text: string): EventPosition | null {
  if (text.length > MAX_LENGTH) return null;
  const [version, time = '', ...places] = text.split('.');
  const [, latest] = TIME.exec(time) ?? [];
  if (version !== 'e1' || latest === undefined) return null;
  const cursor = new Map<string, number>();
  for (const place of places) {
    const [, code, digits = ''] = PLACE.exec(place) ?? [];
    if (code === undefined) return null;
    cursor.set(code, Number.parseInt(digits, 36));
  }
  return { cursor, latestMs: Number.parseInt(latest, 36) };
}
