import { createPreimageSigner, type PreimageSigner } from '@tollgate/crypto';

import { answered, sampleBookings, transferId } from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { closeBook } from '../closing/close-book.js';
import { storeBookings } from '../posting/store-bookings.js';
import { verifyBook } from './verify-book.js';

const signer = createPreimageSigner(`0x${'11'.repeat(32)}`) as PreimageSigner;

describe('the book', () => {
  const book = useTestBook({ isKept: true });

  beforeAll(async () => {
    await book.post(...[1, 2, 3].map((number) => answered(transferId(number))));
    await closeBook(book.writer, signer, { untilMs: Date.now() + 1_000 });
  });

  it('verifies', async () => {
    expect(await verifyBook(book.database, [signer.address])).toMatchObject({
      bookings: 3,
      entries: 6,
      closings: 1,
      broken: null,
    });
  });

  it.each([
    'UPDATE entries SET amount = 1 WHERE id = 1',
    'DELETE FROM entries WHERE id = 6',
    'TRUNCATE entries',
    `UPDATE bookings SET content = '{}'`,
    'DELETE FROM bookings',
    'TRUNCATE bookings',
    'DELETE FROM closings',
    'UPDATE closings SET number = 7',
    'DELETE FROM audit',
    'TRUNCATE audit',
  ])('refuses %s', async (sql) => {
    await book.database.query(
      `INSERT INTO audit (key_id, action, subject, request_id, details) VALUES ('k', 'a', 's', 'r', '{}')`,
    );
    await expect(book.database.transaction((within) => within.query(sql))).rejects.toThrow(
      /append-only|permission denied/,
    );
  });

  it.each([
    [
      'does not sum to zero',
      `INSERT INTO entries (id, booking, account, asset, amount) VALUES (90, 1, 'refunds', '1328:x', 1)`,
    ],
    [
      'has no booking',
      `INSERT INTO entries (id, booking, account, asset, amount) VALUES (90, 9, 'a', 'x', 1), (91, 9, 'b', 'x', -1)`,
    ],
    ['has no entries', `INSERT INTO bookings VALUES (90, '{}', 'payment', null, now(), '', '')`],
  ])('refuses a booking that %s', async (_name, sql) => {
    await expect(book.database.transaction((within) => within.query(sql))).rejects.toThrow(
      /not complete, or does not sum to zero/,
    );
  });

  const TRIGGERS = ['bookings', 'entries', 'closings'];
  it.each([
    [
      'an amount',
      `UPDATE entries SET amount = '10001' WHERE id = 3`,
      'Entry 3 of booking 2: its amount is 10001, and was booked as 10000.',
    ],
    [
      'an account',
      `UPDATE entries SET account = 'refunds' WHERE id = 4`,
      'Entry 4 of booking 2: its account is refunds',
    ],
    ['a lost entry', 'DELETE FROM entries WHERE id = 5', 'Entry 5 of booking 3 is missing.'],
    [
      'a strange entry',
      `INSERT INTO entries VALUES (7, 3, 'a', 'x', 1), (8, 3, 'b', 'x', -1)`,
      'Entry 7 is not part of booking 3.',
    ],
    [
      'entries of no booking',
      `INSERT INTO entries VALUES (7, 9, 'a', 'x', 1), (8, 9, 'b', 'x', -1)`,
      'Entry 7 belongs to no booking.',
    ],
    [
      'entries of a booking before the first',
      `INSERT INTO entries VALUES (7, 0, 'a', 'x', 1), (8, 0, 'b', 'x', -1)`,
      'Entry 7 belongs to no booking.',
    ],
    [
      'an added end',
      `INSERT INTO bookings VALUES (4, '{}', 'payment', null, now(), '', '')`,
      'Booking 4 comes after the last one, 3.',
    ],
    [
      'a changed content',
      `UPDATE bookings SET content = replace(content, '10000', '20000') WHERE id = 2`,
      'Booking 2: its content was changed.',
    ],
    [
      'a content with a new hash',
      `UPDATE bookings SET content = content || ' ', content_hash = encode(sha256((content || ' ')::bytea), 'hex') WHERE id = 1`,
      'Booking 1: it does not follow the booking before it.',
    ],
    [
      'a time',
      `UPDATE bookings SET booked_at = '2020-01-01T00:00:00Z' WHERE id = 2`,
      'Booking 2: its bookedAt is 2020-01-01T00:00:00.000Z, and was booked as 20',
    ],
    [
      'a payment',
      `UPDATE bookings SET payment = null WHERE id = 2`,
      `Booking 2: its payment is null, and was booked as ${transferId(2)}.`,
    ],
    [
      'a kind',
      `UPDATE bookings SET kind = 'gas' WHERE id = 3`,
      'Booking 3: its kind is gas, and was booked as payment.',
    ],
    ['a lost booking', 'DELETE FROM bookings WHERE id = 2', 'Booking 2 is missing.'],
    ['a lost end', 'DELETE FROM bookings WHERE id = 3', 'Booking 3 is missing: it was the last one.'],
    [
      'a balance',
      `UPDATE balances SET amount = amount + 1 WHERE account LIKE 'revenue:%'`,
      `is -29999, and its entries sum to -30000.`,
    ],
    ['a lost balance', `DELETE FROM balances WHERE account LIKE 'revenue:%'`, `is 0, and its entries sum to -30000.`],
    ['a strange balance', `INSERT INTO balances VALUES ('refunds', 'x', 7)`, 'The balance of refunds in x is 7'],
    [
      'a closing',
      `UPDATE closings SET content = replace(content, '2026', '2025')`,
      'Closing 1: its signature does not fit its content.',
    ],
    [
      'the day of a closing',
      `UPDATE closings SET day = '2020-01-01'`,
      'Closing 1: its day is 2020-01-01, and was signed as 20',
    ],
    [
      'the bookings of a closing',
      'UPDATE closings SET last_booking = 2',
      'Closing 1: its lastBooking is 2, and was signed as 3.',
    ],
    [
      'the signer of a closing',
      `UPDATE closings SET signer = '0x'`,
      `Closing 1: its signer is 0x, and was signed as ${signer.address}.`,
    ],
  ])('names the first row that is broken: %s', async (_name, sql, broken) => {
    const undone = new Error('undone');
    const attempt = book.database.transaction(async (within) => {
      for (const table of TRIGGERS) {
        await within.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
        await within.query(`GRANT ALL ON ${table} TO CURRENT_USER`);
      }
      await within.query(sql);
      const verdict = await verifyBook(within, []);
      expect(verdict.broken).toContain(broken);
      throw undone;
    });
    await expect(attempt).rejects.toBe(undone);
  });

  it('does not verify with closings of another key', async () => {
    const verdict = await verifyBook(book.database, [`0x${'00'.repeat(20)}`]);
    expect(verdict.broken).toContain(`Closing 1: it was signed by ${signer.address}`);
  });
});

describe('a book of some pages', () => {
  const book = useTestBook();

  it('is written while it is verified, and verified as it was at the start', async () => {
    const [more, BOOKED] = [answered(transferId(1)), 5_000];
    await book.writer.write((within) => storeBookings(within, sampleBookings(BOOKED), Date.now()));
    let pages = 0;
    const verdict = await verifyBook(
      {
        query: async (sql, values) => {
          if (sql.includes('content_hash') && ++pages === 2) await book.post(more);
          return book.database.query(sql, values);
        },
      },
      [],
    );
    expect(pages).toBeGreaterThan(2);
    expect(verdict).toMatchObject({ bookings: BOOKED, entries: 2 * BOOKED, broken: null });
    expect(await verifyBook(book.database, [])).toMatchObject({ bookings: BOOKED + 1, broken: null });
  });

  it('verifies with the closings of each key in its time', async () => {
    const later = createPreimageSigner(`0x${'33'.repeat(32)}`) as PreimageSigner;
    for (const [number, key] of [signer, later, later, signer].entries()) {
      await book.post(answered(transferId(number)));
      await closeBook(book.writer, key, { untilMs: Date.now() + 1_000 });
    }
    const verify = (...signers: PreimageSigner[]) =>
      verifyBook(
        book.database,
        signers.map(({ address }) => address),
      );
    expect(await verify(signer, later, signer)).toMatchObject({ closings: 4, broken: null });
    expect((await verify(signer, later)).broken).toBe(
      `Closing 4: it was signed by ${signer.address}, after a later key had signed.`,
    );
    expect((await verify(later)).broken).toContain('Closing 1: it was signed by');
  });
});
