import { createTestBook, type TestBook } from '../../test/create-test-book.js';
import { answered, deliver, SELLER, transferId } from '../../test/sample-events.js';
import { BookWriter } from '../posting/book-writer.js';
import { postEvents } from '../posting/post-events.js';
import { BookHeldError, DeposedError } from './database.js';

describe('the claim on the book', () => {
  let book: TestBook;

  beforeEach(async () => {
    book = await createTestBook();
  });

  afterEach(() => book.remove());

  it('is given once, and again after it was given back', async () => {
    const first = await book.claim();
    await expect(book.claim()).rejects.toBeInstanceOf(BookHeldError);
    const ran = await first.query('SELECT number, at FROM migrations ORDER BY number');
    expect(ran).toEqual(expect.arrayContaining([expect.objectContaining({ number: 1 })]));
    await first.close();
    const second = await book.claim();
    // None a second time.
    expect(await second.query('SELECT number, at FROM migrations ORDER BY number')).toEqual(ran);
    await second.close();
  });

  it('refuses every write of a bookkeeper that was deposed', async () => {
    const database = await book.claim();
    const deposed = await BookWriter.open(database, 'first');
    const successor = await BookWriter.open(database, 'second');
    expect(successor.epoch).toBe(deposed.epoch + 1);
    const event = deliver(answered(transferId(1)));
    await expect(postEvents(deposed, [event], SELLER)).rejects.toBeInstanceOf(DeposedError);
    expect(await database.query('SELECT id FROM events')).toEqual([]);
    expect(await postEvents(successor, [event], SELLER)).toMatchObject({ bookings: 1 });
    await database.close();
  });

  it('does not open the tables of a later release', async () => {
    const database = await book.claim();
    await database.query('INSERT INTO migrations (number) VALUES (99)');
    await database.close();
    await expect(book.claim()).rejects.toThrow(/later release \(version 99/);
    const opened = 'url' in book.place ? null : book.place.folder;
    // The lock is given back with the refusal.
    if (opened !== null) await expect(book.claim()).rejects.not.toBeInstanceOf(BookHeldError);
  });
});
