import { answered, deliver, refunded, SELLER, transferId } from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { readEventRange } from '../delivery/read-events.js';
import { removeRequests } from '../retention/remove-requests.js';
import { bookEvents } from './book-events.js';
import { notePositions } from './stream-positions.js';

const SINCE_MS = Date.UTC(2026, 0, 1);
const OLD_MS = Date.UTC(2026, 1, 1);
const SOLD = transferId(1);

describe('what is acknowledged in Redis, beside what the book has', () => {
  const book = useTestBook();

  const sell = async (...ids: string[]) => {
    const sold = ids.map((id) => deliver(answered(SOLD), id));
    await bookEvents(book.writer, sold, SELLER);
    return sold[0]!.stream;
  };
  const note = (stream: string, id: string) => notePositions(book.writer, [{ stream, id }], SINCE_MS);
  const readGaps = () =>
    book.database.query<{ since: Date; until: Date }>('SELECT since, until FROM gaps ORDER BY since');

  it('is no more than the book has, in a restart', async () => {
    const stream = await sell(`${OLD_MS}-9`, `${OLD_MS}-10`);
    expect(await note(stream, `${OLD_MS}-10`)).toBeNull();
    expect(await note(stream, `${OLD_MS}-2`)).toBeNull();
    expect(await readGaps()).toEqual([]);
  });

  it('includes an event that the database refuses', async () => {
    await sell(`${OLD_MS}-1`);
    const bad = deliver(refunded(SOLD, '10001'), `${OLD_MS}-2`);
    expect(await bookEvents(book.writer, [bad], SELLER)).toMatchObject({ refused: 1 });
    expect(await note(bad.stream, bad.id)).toBeNull();
  });

  it('is a gap from the newest event that the book has, once', async () => {
    const stream = await sell(`${OLD_MS}-9`);
    const gap = await note(stream, `${OLD_MS}-10`);
    expect(gap?.since).toEqual(new Date(OLD_MS));
    expect(gap!.until.getTime()).toBeGreaterThan(OLD_MS);
    expect(await readGaps()).toEqual([gap]);
    expect(await note(stream, `${OLD_MS}-10`)).toBeNull();
    expect(await readGaps()).toHaveLength(1);
  });

  it('lets events have other numbers than those that the book has lost', async () => {
    const stream = await sell(`${OLD_MS}-9`);
    await note(stream, `${OLD_MS}-10`);
    await bookEvents(book.writer, [deliver(answered(transferId(2)))], SELLER);
    expect((await readEventRange(book.database)).newest).toBeGreaterThan(SINCE_MS);
  });

  it('is a gap since the reports began, in a book that is new', async () => {
    expect((await note('a stream', `${OLD_MS}-0`))?.since).toEqual(new Date(SINCE_MS));
  });

  it('is in the gap that a restored copy has left', async () => {
    const stream = await sell(`${OLD_MS}-9`);
    await book.database.execute('INSERT INTO gaps (since, until) VALUES (now(), now())');
    const before = await readGaps();
    expect(await note(stream, `${OLD_MS}-10`)).toBeNull();
    expect(await readGaps()).toEqual(before);
  });

  it('makes a gap longer while another book reads on', async () => {
    const stream = await sell(`${OLD_MS}-9`);
    const first = await note(stream, `${Date.now() + 1_000}-0`);
    const later = await note(stream, `${Date.now() + 60_000}-0`);
    expect(later!.until.getTime()).toBeGreaterThan(first!.until.getTime());
    expect(await readGaps()).toEqual([{ since: first!.since, until: later!.until }]);
  });

  it('is known after the events were removed', async () => {
    const stream = await sell(`${OLD_MS}-9`);
    expect(await removeRequests(book.writer, Date.now() + 86_400_000)).toMatchObject({ events: 1 });
    expect(await note(stream, `${OLD_MS}-9`)).toBeNull();
  });
});
