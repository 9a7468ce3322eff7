import { answered, deliver, SELLER, transferId } from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { describeDifference, skipEventNumbers, storeOutgoingEvents } from '../events/outgoing-event.js';
import { postEvents } from '../posting/post-events.js';
import { findNumberBefore, readEventRange, readOutgoingEvents, trimOutgoingEvents } from './read-events.js';
import { boundWaiting, countDeliveries, readDue, recordTried, resendDead, trimDead } from './webhook-deliveries.js';
import { addPaymentTarget, disablePaymentTarget, listPaymentTargets } from './webhook-targets.js';

describe('the deliveries of outgoing events', () => {
  const book = useTestBook();
  let target: string;

  beforeEach(async () => {
    target = (await addPaymentTarget(book.writer, { keyId: 'key', url: 'https://shop.example', events: [] }, 1)) ?? '';
  });

  const post = (from: number, to: number) =>
    postEvents(
      book.writer,
      Array.from({ length: to - from + 1 }, (_, index) => deliver(answered(transferId(from + index)))),
      SELLER,
    );
  const idsOf = (events: readonly { event: { id: string } }[]) => events.map(({ event }) => event.id);
  const idOf = (number: number) => `payment.answered:${transferId(number)}`;

  it('are in the order of the events', async () => {
    await post(1, 40);
    const expected = Array.from({ length: 40 }, (_, index) => idOf(index + 1));
    expect(idsOf(await readOutgoingEvents(book.database, 0, 100))).toEqual(expected);
    expect(idsOf(await readDue(book.database, target, 100))).toEqual(expected);
  });

  it('are not there when the transaction is rolled back', async () => {
    const difference = describeDifference('0x1:0', Date.now(), { amount: '5' });
    const broken = book.writer.write(async (within) => {
      await storeOutgoingEvents(within, [difference]);
      throw new Error('broken');
    });
    await expect(broken).rejects.toThrow('broken');
    expect(await countDeliveries(book.database)).toEqual({ waiting: 0, dead: 0 });
  });

  it('are made once for a difference, however often it is found', async () => {
    const difference = describeDifference('0x1:0', Date.now(), { amount: '5' });
    for (let look = 0; look < 3; look++) await book.writer.write((within) => storeOutgoingEvents(within, [difference]));
    expect(await readOutgoingEvents(book.database, 0, 9)).toMatchObject([{ event: difference }]);
    expect(await countDeliveries(book.database)).toEqual({ waiting: 1, dead: 0 });
  });

  it('are bounded for a target: the oldest are dropped', async () => {
    await post(1, 5);
    expect(await boundWaiting(book.writer, target, 5)).toBe(0);
    expect(await boundWaiting(book.writer, target, 2)).toBe(3);
    expect(idsOf(await readDue(book.database, target, 9))).toEqual([idOf(4), idOf(5)]);
    expect(await listPaymentTargets(book.database, null)).toMatchObject([{ waiting: 2, crowdedOut: 3 }]);
  });

  it('wait after a failure, end after a success, and can be sent again after the last failure', async () => {
    await post(1, 3);
    const [one, two, three] = await readDue(book.database, target, 9);
    await recordTried(book.writer, target, [
      { number: one!.number, isDelivered: true },
      { number: two!.number, isDelivered: false, reason: 'later', retryAfterMs: 600_000 },
      { number: three!.number, isDelivered: false, reason: 'never', retryAfterMs: null },
    ]);
    expect(await readDue(book.database, target, 9)).toEqual([]);
    expect(await countDeliveries(book.database)).toEqual({ waiting: 1, dead: 1 });
    expect(await resendDead(book.writer, 'another key', target)).toBe(0);
    expect(await resendDead(book.writer, 'key', target)).toBe(1);
    expect(await readDue(book.database, target, 9)).toMatchObject([{ number: three!.number, attempts: 0 }]);
  });

  it('hold their events back from removal, and end with their target', async () => {
    await post(1, 6);
    await recordTried(
      book.writer,
      target,
      (await readDue(book.database, target, 9)).slice(0, 5).map(({ number }) => ({ number, isDelivered: true })),
    );
    const before = await readEventRange(book.database);
    await post(7, 9);
    await trimOutgoingEvents(book.writer, 1);
    expect(idsOf(await readOutgoingEvents(book.database, 0, 9))).toEqual([6, 7, 8, 9].map(idOf));
    await disablePaymentTarget(book.writer, target, 'gone');
    await post(10, 10);
    await trimOutgoingEvents(book.writer, 1);
    expect(idsOf(await readOutgoingEvents(book.database, 0, 9))).toEqual([idOf(10)]);
    expect((await readEventRange(book.database)).oldest).toBeGreaterThan(before.newest);
    expect(await findNumberBefore(book.database, 0)).toBe((await readEventRange(book.database)).newest);
  });

  it('hold back as many events where numbers were skipped', async () => {
    await disablePaymentTarget(book.writer, target, 'gone');
    await post(1, 3);
    await book.writer.write(skipEventNumbers);
    await post(4, 5);
    const readIds = async () => idsOf(await readOutgoingEvents(book.database, 0, 9));
    await trimOutgoingEvents(book.writer, 6);
    expect(await readIds()).toEqual([1, 2, 3, 4, 5].map(idOf));
    await trimOutgoingEvents(book.writer, 4);
    expect(await readIds()).toEqual([2, 3, 4, 5].map(idOf));
    await trimOutgoingEvents(book.writer, 1);
    expect(await readIds()).toEqual([idOf(5)]);
  });

  it('are forgotten after their time as dead letters, the oldest first', async () => {
    await post(1, 3);
    const due = await readDue(book.database, target, 9);
    // All at one time.
    const given = due.map(({ number }) => ({ number, isDelivered: false, reason: 'never', retryAfterMs: null }));
    await recordTried(book.writer, target, given);
    await trimDead(book.writer, { days: 30, most: 2 });
    expect(await countDeliveries(book.database)).toEqual({ waiting: 0, dead: 2 });
    await trimDead(book.writer, { days: 0, most: 2 });
    expect(await countDeliveries(book.database)).toEqual({ waiting: 0, dead: 0 });
  });
});
