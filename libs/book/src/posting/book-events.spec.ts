import { createTestBook, type TestBook } from '../../test/create-test-book.js';
import { emptyBook } from '../../test/empty-book.js';
import {
  answered,
  authorizationId,
  deliver,
  hashOf,
  refunded,
  refused,
  SELLER,
  settled,
  transferId,
} from '../../test/sample-events.js';
import { DeposedError, type ClaimedDatabase } from '../database/database.js';
import { readBookedPayment } from '../reading/read-payment.js';
import { countUnapplied, listRefusedEvents } from '../reading/read-unapplied.js';
import { verifyBook } from '../reading/verify-book.js';
import { bookEvents, bookUnapplied } from './book-events.js';
import { BookWriter } from './book-writer.js';
import { postEvents } from './post-events.js';

const MORE_THAN_ARRIVED = '10001';
const TOO_MANY_DIGITS = '9'.repeat(100);

describe('booking events of which the database refuses one', () => {
  let book: TestBook;
  let database: ClaimedDatabase;
  let writer: BookWriter;

  beforeAll(async () => {
    book = await createTestBook();
    database = await book.claim();
  });

  beforeEach(async () => {
    await emptyBook(database);
    writer = await BookWriter.open(database, 'spec');
  });

  afterAll(async () => {
    await database.close();
    await book.remove();
  });

  const answers = (count: number, from = 1) =>
    Array.from({ length: count }, (_, index) => deliver(answered(transferId(from + index))));

  /** An event that is refused, and whose payment is in the book. */
  async function createRefused() {
    await postEvents(writer, answers(1), SELLER);
    return deliver(refunded(transferId(1), MORE_THAN_ARRIVED));
  }

  const expectNothingKept = async () => expect(await countUnapplied(database)).toEqual({ unread: 0, refused: 0 });

  it('books the others, and keeps the refused one whole, with the reason', async () => {
    const bad = await createRefused();
    const [before, after] = [answers(20, 10), answers(20, 40)];
    const posted = await bookEvents(writer, [...before, bad, ...after], SELLER);
    expect(posted).toEqual({ events: 40, unread: 0, refused: 1, bookings: 40 });
    expect(await readBookedPayment(database, transferId(59))).toMatchObject({ state: 'answered' });
    expect(await readBookedPayment(database, transferId(1))).toMatchObject({ state: 'answered', refunded: '0' });
    const { stream, id, fields } = bad;
    expect(await listRefusedEvents(database, 10)).toEqual([
      { stream, id, type: 'refunded', payment: transferId(1), reason: expect.stringMatching(/refunds_at_most/) },
    ]);
    expect(await database.query('SELECT fields, applied FROM events WHERE id = $1', [id])).toEqual([
      { fields, applied: false },
    ]);
    expect((await verifyBook(database, [])).broken).toBeNull();
  });

  it('keeps it once, however often it is delivered', async () => {
    const bad = await createRefused();
    for (let time = 0; time < 3; time++) {
      expect(await bookEvents(writer, [bad], SELLER)).toEqual({ events: 0, unread: 0, refused: 1, bookings: 0 });
    }
    expect(await countUnapplied(database)).toEqual({ unread: 0, refused: 1 });
  });

  it('keeps one whose amount or text no column can have', async () => {
    const large = deliver(answered(transferId(1), { amount: TOO_MANY_DIGITS }));
    const zero = deliver(answered(transferId(2), { requestId: 'a\0b' }));
    const raw = deliver(answered(`${transferId(3)}\0`));
    expect(await bookEvents(writer, [large, zero, raw, ...answers(1, 4)], SELLER)).toMatchObject({
      ...{ events: 1, refused: 3, bookings: 1 },
    });
    expect((await listRefusedEvents(database, 10)).map(({ payment }) => payment)).toEqual([
      ...[transferId(1), transferId(2), `${transferId(3)}\uFFFD`],
    ]);
  });

  it('books it at the next start where what came later allows it', async () => {
    const [id, transaction] = [authorizationId(1), hashOf(700)];
    await postEvents(writer, [deliver(answered(id, { amount: '9000', transaction }))], SELLER);
    await bookEvents(writer, [deliver(refunded(id, '10000'))], SELLER);
    expect(await bookUnapplied(writer, SELLER)).toMatchObject({ events: 0, refused: 1 });
    await bookEvents(writer, [deliver(settled([id], { transaction }))], SELLER);
    expect(await bookUnapplied(writer, SELLER)).toMatchObject({ events: 1, refused: 0, bookings: 1 });
    expect(await readBookedPayment(database, id)).toMatchObject({ state: 'refunded', refunded: '10000' });
    await expectNothingKept();
  });

  it('sets nothing aside after another bookkeeper took over', async () => {
    const bad = await createRefused();
    await BookWriter.open(database, 'successor');
    await expect(bookEvents(writer, [bad], SELLER)).rejects.toBeInstanceOf(DeposedError);
    await expectNothingKept();
  });

  it('sets nothing aside in a book whose numbers are damaged', async () => {
    await postEvents(writer, answers(2), SELLER);
    await database.query('UPDATE bookkeeper SET last_booking = last_booking - 1');
    await expect(bookEvents(writer, [deliver(refused(transferId(9)))], SELLER)).rejects.toMatchObject({
      ...{ code: '23505', table: 'bookings' },
    });
    await expectNothingKept();
  });

  it('sets nothing aside where the database is closed', async () => {
    const bad = await createRefused();
    await database.close();
    await expect(bookEvents(writer, [bad], SELLER)).rejects.toThrow();
    database = await book.claim();
    await expectNothingKept();
  });
});
