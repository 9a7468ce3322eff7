import type { ClaimedDatabase } from '../src/database/database.js';
import { BookWriter } from '../src/posting/book-writer.js';
import { createTestBook, type TestBook } from './create-test-book.js';
import { emptyBook } from './empty-book.js';

interface UsedBook {
  place: TestBook;
  database: ClaimedDatabase;
  writer: BookWriter;
}

/** A book for the tests of a file, made new before each. Its fields are set in tests and hooks, not while they are declared. */
export function useTestBook(): UsedBook {
  const book = {} as UsedBook;
  beforeAll(async () => {
    book.place = await createTestBook();
    book.database = await book.place.claim();
  });
  beforeEach(async () => {
    await emptyBook(book.database);
    book.writer = await BookWriter.open(book.database, 'spec');
  });
  afterAll(async () => {
    await book.database.close();
    await book.place.remove();
  });
  return book;
}
