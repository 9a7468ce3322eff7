import { setTimeout as sleep } from 'node:timers/promises';

import { Logger } from '@nestjs/common';
import { BOOK_GROUP, laneBookKey } from '@tollgate/book-events';

import { answered, deliver, transferId } from '../../../../libs/book/test/sample-events.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { BookkeeperFixture } from '../../test/bookkeeper-fixture.js';
import { BookHolder } from '../book/book-holder.js';
import { OutboxDrain } from './outbox-drain.js';

const SCRAPES = 20;
const SCRAPE_EVERY_MS = 250;
const WAITS_MS = 120_000;
const A_DAY_MS = 86_400_000;

const FULL = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$;`;

describe('what waits in the outbox', () => {
  let fixture: BookkeeperFixture;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    fixture = await BookkeeperFixture.start();
    const { stream, fields } = deliver(answered(transferId(1)));
    await fixture.redis.xadd(stream, `${Date.now() - WAITS_MS}-0`, ...fields);
  });

  afterEach(() => fixture.stop());

  /** Seconds since the oldest event was written. */
  async function readLag(url: string): Promise<number> {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(/^tollgate_book_lag_seconds\S* (\S+)$/m.exec(text)?.[1]);
  }

  // A statement without rows is the first one that a bookkeeper writes.
  it.each(['ROW', 'STATEMENT'])('is shown all the time while the disk has no room for a %s', async (each) => {
    await fixture.change(
      `${FULL} CREATE TRIGGER no_room BEFORE INSERT ON events FOR EACH ${each} EXECUTE FUNCTION refuse()`,
    );
    const full = await fixture.startBookkeeper();
    await waitFor('the outbox is found', async () => (await readLag(full.url)) > 0);
    const lags: number[] = [];
    for (let scrape = 0; scrape < SCRAPES; scrape++) {
      lags.push(await readLag(full.url));
      await sleep(SCRAPE_EVERY_MS);
    }
    expect(Math.min(...lags)).toBeGreaterThan(60);
  });

  it('is waited for no longer than it is read', async () => {
    await fixture.change(
      `${FULL} CREATE TRIGGER no_room BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
    const { app } = await fixture.startBookkeeper();
    const drain = app.get(OutboxDrain);
    const waiting = drain.waitUntilRead(A_DAY_MS);
    await fixture.endBookkeepers();
    expect(await waiting).toBe(false);
    expect(await drain.waitUntilRead(A_DAY_MS)).toBe(false);
  });
});

describe('a stream that is found while the outbox is read', () => {
  it('is a gap where another book has its first events', async () => {
    const fixture = await BookkeeperFixture.start();
    const { app } = await fixture.startBookkeeper();
    const drain = app.get(OutboxDrain);
    const { database } = app.get(BookHolder).writer;
    const { fields } = deliver(answered(transferId(1)));
    await waitFor('it reads', () => drain.readToEndAtMs > 0);
    // Positions are also noted at intervals, which one of these may meet.
    for (const [index, lane] of ['1:0xa', '1:0xb'].entries()) {
      const key = laneBookKey(lane);
      const theirs = Date.now() + index * 3_600_000;
      await fixture.redis.xgroup('CREATE', key, BOOK_GROUP, '0', 'MKSTREAM');
      await fixture.redis.xadd(key, `${theirs}-1`, ...fields);
      await fixture.redis.xreadgroup('GROUP', BOOK_GROUP, 'other', 'STREAMS', key, '>');
      await fixture.redis.xack(key, BOOK_GROUP, `${theirs}-1`);
      await fixture.redis.xadd(key, `${theirs}-2`, ...fields);
      await fixture.redis.sadd('tollgate:{relayers}:lanes', lane);
      const addedAtMs = Date.now();
      await waitFor('it is read', () => drain.readToEndAtMs > addedAtMs);
      const gaps = await database.query('SELECT 1 FROM gaps WHERE until > $1', [new Date(theirs).toISOString()]);
      expect(gaps).toHaveLength(1);
    }
    await fixture.stop();
  });
});

describe('the time up to which every event is in the book', () => {
  it('is not after an event in a stream that has not been found', async () => {
    const fixture = await BookkeeperFixture.start();
    const { app } = await fixture.startBookkeeper();
    const drain = app.get(OutboxDrain);
    const { fields } = deliver(answered(transferId(1)));
    // A search for streams may fall between what comes first and second of one lane, hardly of both.
    for (const lane of ['1:0xa', '1:0xb']) {
      const key = laneBookKey(lane);
      await fixture.redis.sadd('tollgate:{relayers}:lanes', lane);
      await fixture.redis.xadd(key, '*', ...fields);
      const reportedAtMs = Date.now();
      await waitFor('that time is read', () => drain.readToEndAtMs > reportedAtMs);
      expect(await fixture.redis.xinfo('GROUPS', key).catch(() => [])).toHaveLength(1);
      expect(await fixture.redis.xpending(key, BOOK_GROUP)).toEqual([0, null, null, null]);
    }
    await fixture.stop();
  });
});
