import { codeOfLane, createLaneId, type JobEvent, type Journal, type LaneId } from '@tollgate/journal';

import { readStart, writePosition, type EventPosition } from './event-request.js';

const MINUTE_MS = 60_000;
const LANES = Array.from({ length: 20 }, (_, index) => createLaneId(1328, `0x${index.toString(16).padStart(40, '0')}`));
const CODES = LANES.map(codeOfLane);

/** A journal whose lanes have events at these times. */
function journalOf(timesOf: (lane: LaneId) => readonly number[]): Journal {
  const events = (lane: LaneId) => timesOf(lane).map((atMs, index) => ({ sequence: index + 1, atMs }) as JobEvent);
  const stub = {
    readLanes: async () => LANES,
    readLane: async (lane: LaneId) => ({ lastSequence: events(lane).length }),
    outbox: {
      read: async (lane: LaneId, { after, count = 100 }: { after: number; count?: number }) =>
        events(lane).slice(after, after + count),
    },
  };
  return stub as unknown as Journal;
}

const NOWHERE: EventPosition = { cursor: new Map(), latestMs: 0, untilMs: 0 };
const MINUTES = Array.from({ length: 500 }, (_, minute) => minute * MINUTE_MS);
const position = (given: Partial<EventPosition>) =>
  writePosition({
    cursor: new Map(CODES.map((code) => [code, 450])),
    latestMs: 450 * MINUTE_MS,
    untilMs: 449 * MINUTE_MS,
    ...given,
  });

describe('a client that resumes', () => {
  it('continues behind its place in the sixteen lanes of its latest events, and within a minute in the others', async () => {
    const { cursor } = await readStart(
      journalOf(() => MINUTES),
      position({}),
      NOWHERE,
    );
    expect(CODES.map((code) => cursor.get(code))).toEqual([448, 448, 448, 448, ...Array<number>(16).fill(450)]);
  });

  it('gets all of a lane that was not there', async () => {
    const journal = journalOf((lane) => (lane === LANES[0] ? [451 * MINUTE_MS] : MINUTES));
    const { cursor } = await readStart(journal, position({ cursor: new Map([[CODES[1]!, 450]]) }), NOWHERE);
    expect([cursor.get(CODES[0]!), cursor.get(CODES[1]!)]).toEqual([0, 450]);
  });

  it('has its latest lanes last, so that the next position lists them', async () => {
    const { cursor } = await readStart(
      journalOf(() => MINUTES),
      position({}),
      NOWHERE,
    );
    expect([...cursor.keys()].slice(-16)).toEqual(CODES.slice(-16));
  });
});
