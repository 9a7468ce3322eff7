import { answered, transferId } from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { describeDifference, skipEventNumbers, storeOutgoingEvents } from '../events/outgoing-event.js';
import { findNumberBefore, readOutgoingEvents, trimOutgoingEvents } from './read-events.js';

describe('outgoing events', () => {
  const book = useTestBook();

  const post = (from: number, to: number) =>
    book.post(...Array.from({ length: to - from + 1 }, (_, index) => answered(transferId(from + index))));
  const readAll = () => readOutgoingEvents(book.database, 0, 100);
  const readIds = async () => (await readAll()).map(({ event }) => event.id);
  const idOf = (number: number) => `payment.answered:${transferId(number)}`;

  it('are in the order in which they were booked', async () => {
    await post(1, 40);
    expect(await readIds()).toEqual(Array.from({ length: 40 }, (_, index) => idOf(index + 1)));
  });

  // Prevents: a new book beside an older Redis, whose webhooks are further, posts nothing.
  it('have higher numbers in a new book than in any that was lost', async () => {
    const beforeMs = Date.UTC(2026, 0);
    await post(1, 1);
    expect((await readAll())[0]!.number).toBeGreaterThan(beforeMs);
  });

  it('are not there when the transaction is rolled back', async () => {
    const difference = describeDifference('0x1:0', Date.now(), { amount: '5' });
    const broken = book.writer.write(async (within) => {
      await storeOutgoingEvents(within, [difference]);
      throw new Error('broken');
    });
    await expect(broken).rejects.toThrow('broken');
    expect(await readAll()).toEqual([]);
  });

  it('are made once for a difference, however often it is found', async () => {
    const difference = describeDifference('0x1:0', Date.now(), { amount: '5' });
    for (let look = 0; look < 3; look++) await book.writer.write((within) => storeOutgoingEvents(within, [difference]));
    expect(await readAll()).toMatchObject([{ event: difference }]);
  });

  it('are removed above a number, the oldest first, up to what the webhooks have', async () => {
    await post(1, 6);
    const numbers = (await readAll()).map(({ number }) => number);
    expect(await findNumberBefore(book.database, 0)).toBe(numbers[5]);
    await trimOutgoingEvents(book.writer, 2, numbers[2]!);
    expect(await readIds()).toEqual([4, 5, 6].map(idOf));
    await trimOutgoingEvents(book.writer, 2, numbers[5]!);
    expect(await readIds()).toEqual([5, 6].map(idOf));
  });

  it('are kept as many where numbers were skipped', async () => {
    await post(1, 3);
    await book.writer.write(skipEventNumbers);
    await post(4, 5);
    const newest = (await readAll()).at(-1)!.number;
    await trimOutgoingEvents(book.writer, 6, newest);
    expect(await readIds()).toEqual([1, 2, 3, 4, 5].map(idOf));
    await trimOutgoingEvents(book.writer, 4, newest);
    expect(await readIds()).toEqual([2, 3, 4, 5].map(idOf));
    await trimOutgoingEvents(book.writer, 1, newest);
    expect(await readIds()).toEqual([idOf(5)]);
  });
});
