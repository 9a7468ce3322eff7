import type { BookEvent } from '@tollgate/book-events';

import type { ClaimedDatabase } from '../src/database/database.js';
import { BookWriter } from '../src/posting/book-writer.js';
import { postEvents, type Posted } from '../src/posting/post-events.js';
import { createTestBook, type TestBook } from './create-test-book.js';
import { emptyBook } from './empty-book.js';
import { deliver, SELLER } from './sample-events.js';

interface UsedBook {
  place: TestBook;
  database: ClaimedDatabase;
  writer: BookWriter;
  /** Posts events as the outbox delivers them. */
  post: (...events: readonly BookEvent[]) => Promise<Posted>;
}

/**
 * A book for the tests of a file. Its fields are set in tests and hooks, not while they are declared.
 * @param isKept whether each test goes on with what the one before it left; else it is made new before each
 */
export function useTestBook({ isKept = false, create = createTestBook } = {}): UsedBook {
  const post = (...events: readonly BookEvent[]): Promise<Posted> =>
    postEvents(
      book.writer,
      events.map((event) => deliver(event)),
      SELLER,
    );
  const book = { post } as UsedBook;
  beforeAll(async () => {
    book.place = await create();
    book.database = await book.place.claim();
    book.writer = await BookWriter.open(book.database, 'spec');
  });
  beforeEach(async () => {
    if (isKept) return;
    await emptyBook(book.database);
    book.writer = await BookWriter.open(book.database, 'spec');
  });
  afterAll(async () => {
    await book.database.close();
    await book.place.remove();
  });
  return book;
}
