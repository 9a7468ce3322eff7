import { createTestBook, type TestBook } from '../../test/create-test-book.js';
import { emptyBook } from '../../test/empty-book.js';
import { answered, deliver, SELLER, transferId } from '../../test/sample-events.js';
import type { ClaimedDatabase } from '../database/database.js';
import { describeDifference, storeOutgoingEvents } from '../events/outgoing-event.js';
import { BookWriter } from '../posting/book-writer.js';
import { postEvents } from '../posting/post-events.js';
import { findNumberBefore, readEventRange, readOutgoingEvents, trimOutgoingEvents } from './read-events.js';
import { boundWaiting, countDeliveries, readDue, recordTried, resendDead, trimDead } from './webhook-deliveries.js';
import { addPaymentTarget, disablePaymentTarget, listPaymentTargets } from './webhook-targets.js';

describe('the deliveries of outgoing events', () => {
  let book: TestBook;
  let database: ClaimedDatabase;
  let writer: BookWriter;
  let target: string;

  beforeAll(async () => {
    book = await createTestBook();
    database = await book.claim();
  });

  beforeEach(async () => {
    await emptyBook(database);
    writer = await BookWriter.open(database, 'spec');
    target = (await addPaymentTarget(writer, { keyId: 'key', url: 'https://shop.example', events: [] }, 1)) ?? '';
  });

  afterAll(async () => {
    await database.close();
    await book.remove();
  });

  const post = (from: number, to: number) =>
    postEvents(
      writer,
      Array.from({ length: to - from + 1 }, (_, index) => deliver(answered(transferId(from + index)))),
      SELLER,
    );
  const idsOf = (events: readonly { event: { id: string } }[]) => events.map(({ event }) => event.id);
  const idOf = (number: number) => `payment.answered:${transferId(number)}`;

  it('are in the order of the events', async () => {
    await post(1, 40);
    const expected = Array.from({ length: 40 }, (_, index) => idOf(index + 1));
    expect(idsOf(await readOutgoingEvents(database, 0, 100))).toEqual(expected);
    expect(idsOf(await readDue(database, target, 100))).toEqual(expected);
  });

  it('are not there when the transaction is rolled back', async () => {
    const difference = describeDifference('0x1:0', Date.now(), { amount: '5' });
    const broken = writer.write(async (within) => {
      await storeOutgoingEvents(within, [difference]);
      throw new Error('broken');
    });
    await expect(broken).rejects.toThrow('broken');
    expect(await countDeliveries(database)).toEqual({ waiting: 0, dead: 0 });
  });

  it('are made once for a difference, however often it is found', async () => {
    const difference = describeDifference('0x1:0', Date.now(), { amount: '5' });
    for (let look = 0; look < 3; look++) await writer.write((within) => storeOutgoingEvents(within, [difference]));
    expect(await readOutgoingEvents(database, 0, 9)).toMatchObject([{ event: difference }]);
    expect(await countDeliveries(database)).toEqual({ waiting: 1, dead: 0 });
  });

  it('are bounded for a target: the oldest are dropped', async () => {
    await post(1, 5);
    expect(await boundWaiting(writer, target, 5)).toBe(0);
    expect(await boundWaiting(writer, target, 2)).toBe(3);
    expect(idsOf(await readDue(database, target, 9))).toEqual([idOf(4), idOf(5)]);
    expect(await listPaymentTargets(database, null)).toMatchObject([{ waiting: 2, crowdedOut: 3 }]);
  });

  it('wait after a failure, end after a success, and can be sent again after the last failure', async () => {
    await post(1, 3);
    const [one, two, three] = await readDue(database, target, 9);
    await recordTried(writer, target, [
      { number: one!.number, isDelivered: true },
      { number: two!.number, isDelivered: false, reason: 'later', retryAfterMs: 600_000 },
      { number: three!.number, isDelivered: false, reason: 'never', retryAfterMs: null },
    ]);
    expect(await readDue(database, target, 9)).toEqual([]);
    expect(await countDeliveries(database)).toEqual({ waiting: 1, dead: 1 });
    expect(await resendDead(writer, 'another key', target)).toBe(0);
    expect(await resendDead(writer, 'key', target)).toBe(1);
    expect(await readDue(database, target, 9)).toMatchObject([{ number: three!.number, attempts: 0 }]);
  });

  it('hold their events back from removal, and end with their target', async () => {
    await post(1, 6);
    await recordTried(
      writer,
      target,
      (await readDue(database, target, 9)).slice(0, 5).map(({ number }) => ({ number, isDelivered: true })),
    );
    const before = await readEventRange(database);
    await post(7, 9);
    await trimOutgoingEvents(writer, 1);
    expect(idsOf(await readOutgoingEvents(database, 0, 9))).toEqual([6, 7, 8, 9].map(idOf));
    await disablePaymentTarget(writer, target, 'gone');
    await post(10, 10);
    await trimOutgoingEvents(writer, 1);
    expect(idsOf(await readOutgoingEvents(database, 0, 9))).toEqual([idOf(10)]);
    expect((await readEventRange(database)).oldest).toBeGreaterThan(before.newest);
    expect(await findNumberBefore(database, 0)).toBe((await readEventRange(database)).newest);
  });

  it('are forgotten after their time as dead letters, the oldest first', async () => {
    await post(1, 3);
    for (const { number } of await readDue(database, target, 9)) {
      await recordTried(writer, target, [{ number, isDelivered: false, reason: 'never', retryAfterMs: null }]);
    }
    await trimDead(writer, { days: 30, most: 2 });
    expect(await countDeliveries(database)).toEqual({ waiting: 0, dead: 2 });
    await trimDead(writer, { days: 0, most: 2 });
    expect(await countDeliveries(database)).toEqual({ waiting: 0, dead: 0 });
  });
});
