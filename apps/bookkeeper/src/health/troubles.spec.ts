import { Logger } from '@nestjs/common';
import type { BookEvent } from '@tollgate/book-events';
import type { Trouble } from '@tollgate/operator-api';

import {
  answered,
  deliver,
  hashOf,
  refunded,
  refunding,
  refused,
  transferId,
} from '../../../../libs/book/test/sample-events.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { BookkeeperFixture, type StartedBookkeeper } from '../../test/bookkeeper-fixture.js';

const DAY_MS = 86_400_000;

interface Health {
  lastBooking: number;
  refusedEvents: number;
  troubles: Trouble[];
}

describe('the troubles of the book', () => {
  let fixture: BookkeeperFixture;
  let bookkeeper: StartedBookkeeper;
  let token: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await BookkeeperFixture.start();
    token = await fixture.createToken('operator:read');
    await fixture.report(deliver(answered(transferId(1))));
    bookkeeper = await fixture.startBookkeeper();
    await waitFor('the event is booked', async () => (await readHealth()).lastBooking === 1);
  });

  afterEach(() => jest.restoreAllMocks());

  afterAll(() => fixture.stop());

  async function readHealth(): Promise<Health> {
    const headers = { Authorization: `Bearer ${token}` };
    return (await (await fetch(`${bookkeeper.url}/operator/health`, { headers })).json()) as Health;
  }

  /** What is said of the closings when the bookkeeper's clock differs from that of the booking by so much. */
  async function readClosingTroubles(differenceMs: number): Promise<Trouble[]> {
    const now = Date.now;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + differenceMs);
    return (await readHealth()).troubles.filter(({ what }) => /is dated|not closed/.test(what));
  }

  it('say that the last booking is in the future, until when no day is closed', async () => {
    expect(await readClosingTroubles(-DAY_MS)).toEqual([
      { about: 'book', what: expect.stringMatching(/is dated 20\S+Z, .* no day is closed/), mend: expect.any(String) },
    ]);
  });

  it('say that no day was closed for two days', async () => {
    expect(await readClosingTroubles(3 * DAY_MS)).toEqual([
      { about: 'book', what: expect.stringMatching(/since 20\S+Z are not closed/), mend: expect.any(String) },
    ]);
  });

  it('name an event that the database refuses, and those behind it are booked', async () => {
    const tooMuch = refunded(transferId(1), '10001');
    await fixture.askForRefunds(tooMuch);
    const bad = deliver(tooMuch);
    for (const event of [bad, deliver(answered(transferId(2)))]) await fixture.report(event);
    await waitFor('the next one is booked', async () => (await readHealth()).lastBooking === 2);
    const { refusedEvents, troubles } = await readHealth();
    expect(refusedEvents).toBe(1);
    expect(troubles.filter(({ what }) => what.includes('is not booked'))).toEqual([
      {
        about: 'book',
        what: expect.stringMatching(
          new RegExp(`^The event refunded of ${transferId(1)} is not booked:.*refunds_at_most`),
        ),
        mend: expect.any(String),
      },
    ]);
    const metrics = await (await fetch(`${bookkeeper.url}/metrics`)).text();
    expect(metrics).toMatch(/^tollgate_book_events_total\{outcome="refused".*\} 1$/m);
    // The alerts look at it.
    const ofBook = troubles.filter(({ about }) => about === 'book').length;
    expect(metrics).toMatch(new RegExp(`^tollgate_book_troubles\\{about="book".*\\} ${ofBook}$`, 'm'));
    await waitFor('it is acknowledged', async () => (await fixture.redis.xpending(bad.stream, 'book'))[0] === 0);
  });

  it('count payments that are closed for a refund and not paid back whole, as they are listed', async () => {
    const [inPart, whole, sold] = [transferId(3), transferId(4), transferId(5)];
    const headers = { Authorization: `Bearer ${token}` };
    const search = async (): Promise<object[]> => {
      const response = await fetch(`${bookkeeper.url}/operator/payments?owed=true`, { headers });
      return ((await response.json()) as { payments: object[] }).payments;
    };
    const readOwed = async (): Promise<Trouble[]> =>
      (await readHealth()).troubles.filter(({ about }) => about === 'owed');
    const isOne = [{ about: 'owed', what: expect.stringMatching(/^1 payment is /), mend: expect.any(String) }];
    const parts = ['4000', '6000'].map((amount) => refunded(inPart, amount));
    const [part, rest] = parts as [BookEvent, BookEvent];
    Object.assign(rest.facts, { refund: 'refund-2', transaction: hashOf(901) });
    const all = refunded(whole, '10000');
    for (const event of [refused(inPart), refused(whole), answered(sold)]) await fixture.report(deliver(event));
    for (const id of [whole, sold, inPart]) await fixture.report(deliver(refunding(id)));
    await fixture.askForRefunds(all);
    await fixture.report(deliver(all));
    const closed = expect.objectContaining({ id: inPart, state: 'refunding', refunded: '0' });
    await waitFor('one is closed, and nothing of it paid back', async () => {
      const found = await search();
      return found.length === 1 && JSON.stringify(found).includes('"state":"refunding"');
    });
    expect(await search()).toEqual([closed]);
    expect(await readOwed()).toEqual(isOne);
    await fixture.askForRefunds(part);
    await fixture.report(deliver(part));
    const listed = expect.objectContaining({ id: inPart, state: 'refunded', amount: '10000', refunded: '4000' });
    await waitFor('a part is paid back', async () => JSON.stringify(await search()).includes('"refunded":"4000"'));
    expect(await search()).toEqual([listed]);
    expect(await readOwed()).toEqual(isOne);
    await fixture.askForRefunds(rest);
    await fixture.report(deliver(rest));
    await waitFor('all is paid back', async () => (await search()).length === 0);
    expect(await readOwed()).toEqual([]);
  });

  it('say nothing of a day that has just ended', async () => {
    expect(await readClosingTroubles(DAY_MS)).toEqual([]);
  });

  it('are no metric of a bookkeeper that waits for the book of another', async () => {
    const { url } = await fixture.startBookkeeper();
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/^tollgate_book_active\{.*\} 0$/m);
    expect(metrics).not.toMatch(/^tollgate_book_troubles\{/m);
  });
});
