import { askForRefunds } from '../../test/ask-for-refunds.js';
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
import { useTestBook } from '../../test/use-test-book.js';
import { DeposedError } from '../database/database.js';
import { readBookedPayment } from '../reading/read-payment.js';
import { countUnapplied, listRefusedEvents } from '../reading/read-unapplied.js';
import { verifyBook } from '../reading/verify-book.js';
import { bookEvents, bookUnapplied } from './book-events.js';
import { BookWriter } from './book-writer.js';
import { postEvents } from './post-events.js';

const MORE_THAN_ARRIVED = '10001';
const TOO_MANY_DIGITS = '9'.repeat(100);

describe('booking events of which the database refuses one', () => {
  const book = useTestBook();

  const answers = (count: number, from = 1) =>
    Array.from({ length: count }, (_, index) => deliver(answered(transferId(from + index))));

  /** An event that is refused, and whose payment is in the book. */
  async function createRefused() {
    await postEvents(book.writer, answers(1), SELLER);
    const event = refunded(transferId(1), MORE_THAN_ARRIVED);
    await askForRefunds(book.database, event);
    return deliver(event);
  }

  const expectNothingKept = async () => expect(await countUnapplied(book.database)).toEqual({ unread: 0, refused: 0 });

  it('books the others, and keeps the refused one whole, with the reason', async () => {
    const bad = await createRefused();
    const [before, after] = [answers(20, 10), answers(20, 40)];
    const posted = await bookEvents(book.writer, [...before, bad, ...after], SELLER);
    expect(posted).toEqual({ events: 40, unread: 0, refused: 1, bookings: 40 });
    expect(await readBookedPayment(book.database, transferId(59))).toMatchObject({ state: 'answered' });
    expect(await readBookedPayment(book.database, transferId(1))).toMatchObject({ state: 'answered', refunded: '0' });
    const { stream, id, fields } = bad;
    expect(await listRefusedEvents(book.database, 10)).toEqual([
      { stream, id, type: 'refunded', payment: transferId(1), reason: expect.stringMatching(/refunds_at_most/) },
    ]);
    expect(await book.database.query('SELECT fields, applied FROM events WHERE id = $1', [id])).toEqual([
      { fields, applied: false },
    ]);
    expect((await verifyBook(book.database, [])).broken).toBeNull();
  });

  it('keeps it once, however often it is delivered', async () => {
    const bad = await createRefused();
    for (let time = 0; time < 3; time++) {
      expect(await bookEvents(book.writer, [bad], SELLER)).toEqual({ events: 0, unread: 0, refused: 1, bookings: 0 });
    }
    expect(await countUnapplied(book.database)).toEqual({ unread: 0, refused: 1 });
  });

  it('keeps one whose amount or text no column can have', async () => {
    const large = deliver(answered(transferId(1), { amount: TOO_MANY_DIGITS }));
    const zero = deliver(answered(transferId(2), { requestId: 'a\0b' }));
    const raw = deliver(answered(`${transferId(3)}\0`));
    expect(await bookEvents(book.writer, [large, zero, raw, ...answers(1, 4)], SELLER)).toMatchObject({
      events: 1,
      refused: 3,
      bookings: 1,
    });
    expect((await listRefusedEvents(book.database, 10)).map(({ payment }) => payment)).toEqual([
      ...[transferId(1), transferId(2), `${transferId(3)}\uFFFD`],
    ]);
  });

  it('books it at the next start where what came later allows it', async () => {
    const [id, transaction] = [authorizationId(1), hashOf(700)];
    await book.post(answered(id, { amount: '9000', transaction }));
    const event = refunded(id, '10000');
    await askForRefunds(book.database, event);
    await bookEvents(book.writer, [deliver(event)], SELLER);
    expect(await bookUnapplied(book.writer, SELLER)).toMatchObject({ events: 0, refused: 1 });
    await bookEvents(book.writer, [deliver(settled([id], { transaction }))], SELLER);
    expect(await bookUnapplied(book.writer, SELLER)).toMatchObject({ events: 1, refused: 0, bookings: 1 });
    expect(await readBookedPayment(book.database, id)).toMatchObject({ state: 'refunded', refunded: '10000' });
    await expectNothingKept();
  });

  it('sets nothing aside after another bookkeeper took over', async () => {
    const bad = await createRefused();
    await BookWriter.open(book.database, 'successor');
    await expect(bookEvents(book.writer, [bad], SELLER)).rejects.toBeInstanceOf(DeposedError);
    await expectNothingKept();
  });

  it('sets nothing aside in a book whose numbers are damaged', async () => {
    await postEvents(book.writer, answers(2), SELLER);
    await book.database.query('UPDATE bookkeeper SET last_booking = last_booking - 1');
    await expect(bookEvents(book.writer, [deliver(refused(transferId(9)))], SELLER)).rejects.toMatchObject({
      code: '23505',
      table: 'bookings',
    });
    await expectNothingKept();
  });

  it('sets nothing aside where the database is closed', async () => {
    const bad = await createRefused();
    await book.database.close();
    await expect(bookEvents(book.writer, [bad], SELLER)).rejects.toThrow();
    book.database = await book.place.claim();
    await expectNothingKept();
  });
});
