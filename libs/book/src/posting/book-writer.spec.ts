import { answered, deliver, SELLER, transferId } from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { readCompleteFrom } from '../reconcile/chain-scope.js';
import { bookEvents } from './book-events.js';

const [BEGUN_MS, EVENT_MS] = [Date.UTC(2026, 1, 1), Date.UTC(2026, 5, 1)];
const MINUTE_MS = 60_000;
const CHAIN_ID = 1328;

describe('since when the book is complete', () => {
  const book = useTestBook();

  async function note(atMs: number | null): Promise<number | null> {
    await book.writer.noteCompleteFrom(CHAIN_ID, atMs);
    return readCompleteFrom(book.database, CHAIN_ID);
  }

  it('never goes back, nor before the newest event where a Redis has lost some and its clock is behind', async () => {
    expect(await note(BEGUN_MS)).toBe(BEGUN_MS);
    await bookEvents(book.writer, [deliver(answered(transferId(1)), `${EVENT_MS}-0`)], SELLER);
    expect(await note(BEGUN_MS)).toBe(BEGUN_MS);
    expect(await note(BEGUN_MS - MINUTE_MS)).toBe(BEGUN_MS);
    expect(await note(EVENT_MS - MINUTE_MS)).toBe(EVENT_MS);
    expect(await note(EVENT_MS - MINUTE_MS)).toBe(EVENT_MS);
    expect(await note(EVENT_MS + MINUTE_MS)).toBe(EVENT_MS + MINUTE_MS);
  });

  it('is known of each chain by itself', async () => {
    const before = await readCompleteFrom(book.database, CHAIN_ID);
    await book.writer.noteCompleteFrom(8453, EVENT_MS + 3 * MINUTE_MS);
    expect(await readCompleteFrom(book.database, CHAIN_ID)).toBe(before);
    await book.writer.noteCompleteFrom(8453, null);
    expect(await readCompleteFrom(book.database, CHAIN_ID)).toBe(before);
    expect(await readCompleteFrom(book.database, 8453)).toBeNull();
  });

  it('is not known while a process does not report', async () => {
    expect(await note(null)).toBeNull();
    expect(await note(EVENT_MS + 2 * MINUTE_MS)).toBe(EVENT_MS + 2 * MINUTE_MS);
  });
});
