import { onlyFields, refuseRequest, textParameter, wordsParameter } from '@tollgate/http';
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
): Promise<EventPosition> {
  if (lastEventId === undefined || lastEventId === '') return now;
  const position = readPosition(lastEventId);
  if (position !== null) return findPlaces(journal, position);
  const event = readEventId(lastEventId);
  if (event === null) throw refuseRequest(['Last-Event-ID must be the id of an event, or must be left out.']);
  return startAfter(journal, event);
}

/** Starts the other lanes at about the time of the event: a repeated event is better than a missing one. */
async function startAfter(journal: Journal, event: { jobId: string; sequence: number }): Promise<EventPosition> {
  const lanes = await journal.readLanes();
  const lane = lanes.find((one) => event.jobId.startsWith(`${codeOfLane(one)}-`));
  if (lane === undefined) throw refuseRequest(['Last-Event-ID names an event of an unknown wallet.']);
  const [found] = await journal.outbox.read(lane, { after: event.sequence - 1, count: 1 });
  const after = (sequence: number, atMs: number, latestMs = atMs): Promise<EventPosition> =>
    findPlaces(journal, { cursor: new Map([[codeOfLane(lane), sequence]]), latestMs, untilMs: atMs });
  if (found?.sequence === event.sequence && found.jobId === event.jobId) return after(event.sequence, found.atMs);
  const { lastSequence } = await journal.readLane(lane);
  // No longer stored, or unreadable; or the journal lost it, and another one may have its sequence. Its time is unknown.
  const isLost = event.sequence > lastSequence || found?.sequence === event.sequence;
  return after(isLost ? await findRecent(journal, lane, lastSequence) : event.sequence, 0, Date.now());
}

/**
 * The place in each lane. A place beyond a lane's last event, or at an event later than all of the client's, belongs to
 * events that the journal lost. That lane, and each that the position does not list, continues from about its time; some
 * events may be repeated.
 */
async function findPlaces(
  journal: Journal,
  { cursor: listed, latestMs, untilMs }: EventPosition,
): Promise<EventPosition> {
  const findPlace = async (lane: LaneId): Promise<readonly [string, number]> => {
    const code = codeOfLane(lane);
    const { lastSequence } = await journal.readLane(lane);
    const sequence = listed.get(code);
    if (sequence === undefined) return [code, await findLater(journal, lane, lastSequence, untilMs)];
    const [found] = await journal.outbox.read(lane, { after: sequence - 1, count: 1 });
    const isLater = found?.sequence === sequence && found.atMs > latestMs;
    if (sequence === 0 || (sequence <= lastSequence && !isLater)) return [code, sequence];
    return [code, await findLater(journal, lane, Math.min(sequence, lastSequence), latestMs)];
  };
  const places = await Promise.all((await journal.readLanes()).map(findPlace));
  places.sort(([one], [other]) => Number(listed.has(one)) - Number(listed.has(other)));
  return { cursor: new Map(places), latestMs, untilMs };
}

/** The position before a lane's first event since about a time, which is at the latest the one after `last`. */
async function findLater(journal: Journal, lane: LaneId, last: number, atMs: number): Promise<number> {
  const sinceMs = atMs - OVERLAP_MS;
  // The last one alone first: most lanes have had no event since then.
  for (let end = last, count = 1; end > 0; count = READ_AT_ONCE) {
    const after = Math.max(end - count, 0);
    const events = await journal.outbox.read(lane, { after, count: end - after });
    const [oldest] = events;
    // No earlier ones are stored; the stream reports a gap before the next one.
    if (oldest === undefined || oldest.sequence > end) return end;
    if (oldest.atMs < sinceMs) return (events.find(({ atMs }) => atMs >= sinceMs)?.sequence ?? end + 1) - 1;
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

/** A client's position. */
export interface EventPosition {
  /** The sequence of the last event that it received from each lane, by the lane's code; those of the latest events last. */
  readonly cursor: Map<string, number>;
  /** No event up to here happened later. */
  readonly latestMs: number;
  /** It has received every event up to about this time. */
  readonly untilMs: number;
}

/** A position stays short however many lanes there are: the others continue by time, and may repeat a minute's events. */
const MAX_LISTED = 16;
const TIMES = /^t([0-9a-z]{1,10})-([0-9a-z]{1,10})$/;
const PLACE = /^(j[0-9a-f]{8})-([0-9a-z]{1,10})$/;

/** Encodes a position in one opaque word, which clients send back unchanged. */
export function writePosition({ cursor, latestMs, untilMs }: EventPosition): string {
  const listed = [...cursor].slice(-MAX_LISTED).map(([code, sequence]) => `${code}-${sequence.toString(36)}`);
  return ['e1', `t${latestMs.toString(36)}-${untilMs.toString(36)}`, ...listed].join('.');
}

/** Null for text that is not a position. */
function readPosition(text: string): EventPosition | null {
  const [version, times = '', ...places] = text.split('.', MAX_LISTED + 3);
  const [, latest, until] = TIMES.exec(times) ?? [];
  if (version !== 'e1' || latest === undefined || until === undefined || places.length > MAX_LISTED) return null;
  const cursor = new Map<string, number>();
  for (const place of places) {
    const [, code, digits = ''] = PLACE.exec(place) ?? [];
    if (code === undefined) return null;
    cursor.set(code, Number.parseInt(digits, 36));
  }
  return { cursor, latestMs: Number.parseInt(latest, 36), untilMs: Number.parseInt(until, 36) };
}
