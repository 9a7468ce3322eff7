import { setTimeout as sleep } from 'node:timers/promises';

import { Logger } from '@nestjs/common';
import { BOOK_GROUP, bucketEventsKey, laneBookKey, REFUSED_EVENTS } from '@tollgate/book-events';
import { BUCKETS } from '@tollgate/ledger';
import { trimAcknowledged } from '@tollgate/redis';

import { answered, deliver, hashOf, RELAYER, transferId } from '../../../../libs/book/test/sample-events.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { BookkeeperFixture } from '../../test/bookkeeper-fixture.js';
import { createHostile } from '../../test/hostile-events.js';
import { BookHolder } from '../book/book-holder.js';
import { OutboxDrain } from './outbox-drain.js';

const SCRAPES = 20;
const SCRAPE_EVERY_MS = 250;
const WAITS_MS = 120_000;
const A_DAY_MS = 86_400_000;

const LANES = ['aa', 'bb'].map((byte) => `1:0x${byte.repeat(20)}`);

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
    for (const [index, lane] of LANES.entries()) {
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
    for (const lane of LANES) {
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

const LANE = `1328:${RELAYER}`;
const NO_STREAM = `1328:0x${'ee'.repeat(20)}`;
const [MOST, YEAR_9999_MS, BEYOND_DATES_MS] = ['18446744073709551615', 253_370_764_800_000, 8_640_000_000_000_001];
/** Some 600 entries of 34 streams, three times, by a busy machine. */
const HOSTILE_WITHIN_MS = 300_000;
const STREAMS = [...Array.from({ length: BUCKETS }, (_, bucket) => bucketEventsKey(bucket)), REFUSED_EVENTS];
const BOOK = laneBookKey(LANE);

// Prevents: one entry that any process of Redis's users can write stops all streams, for ever, while readiness says 200.
it(
  'books everything honest between hostile entries, in every stream, also after a restart',
  async () => {
    const fixture = await BookkeeperFixture.start();
    const { redis } = fixture;
    let [honest, hostile] = [0, 0];
    const report = (stream: string): Promise<unknown> =>
      redis.xadd(stream, '*', ...deliver(answered(transferId(++honest))).fields);

    for (const stream of [...STREAMS, BOOK]) {
      await report(stream);
      const writing = redis.pipeline();
      for (const fields of createHostile(1_000_000 + ++hostile)) writing.xadd(stream, '*', ...fields);
      const huge = ['v', '1', 'facts', 'z'.repeat(stream === BOOK ? 400_000 : 10)];
      for (const id of [`${Date.now() + 3_600_000}-${MOST}`, `${YEAR_9999_MS}-7`, `${BEYOND_DATES_MS}-0`])
        writing.xadd(stream, id, ...huge);
      await writing.exec();
      await report(stream);
      // After the last id that there is, Redis takes no entry.
      await redis.xadd(stream, `${MOST}-${MOST}`, ...huge);
      await expect(report(stream)).rejects.toThrow(/exhausted/);
      honest -= 1;
    }
    await redis.sadd('tollgate:{lanes}:lanes', 'x', '\0', 'y'.repeat(9_000), NO_STREAM, `${NO_STREAM}:1`);
    await redis.sadd('tollgate:{relayers}:lanes', LANE);
    await redis.set(laneBookKey(NO_STREAM), 'no stream');

    const isBooked = async (): Promise<boolean> => {
      const [row] = await fixture.database.query<{ count: number }>(
        `SELECT count(*) AS count FROM payments WHERE state = 'answered' AND substr(id, 9, 66) <= $1`,
        [hashOf(honest)],
      );
      return row?.count === honest;
    };
    const expectAllBooked = async (url: string): Promise<void> => {
      await waitFor('everything honest is booked', isBooked);
      await waitFor('everything is acknowledged', async () => {
        const waiting = await Promise.all([...STREAMS, BOOK].map((stream) => redis.xpending(stream, BOOK_GROUP)));
        return waiting.every(([count]) => count === 0);
      });
      expect((await fetch(`${url}/health/ready`)).status).toBe(200);
      expect(await fixture.database.query('SELECT 1 FROM gaps')).toEqual([]);
    };
    await expectAllBooked((await fixture.startBookkeeper()).url);
    const answers = `SELECT count(*)::int AS count FROM payments WHERE state = 'answered' AND at > now()`;
    expect(await fixture.database.query(answers)).toEqual([{ count: 0 }]);

    await fixture.endBookkeepers();
    const restarted = await fixture.startBookkeeper();
    await expectAllBooked(restarted.url);
    // The writers trim what is acknowledged: a stream that would take nothing more begins anew.
    for (const stream of [...STREAMS, BOOK]) {
      expect(await trimAcknowledged(redis, stream, BOOK_GROUP)).toBe(0);
      await report(stream);
    }
    await expectAllBooked(restarted.url);
    expect(restarted.app.get(OutboxDrain).otherKeys).toEqual([laneBookKey(NO_STREAM)]);
    const positions = 'SELECT count(*)::int AS count FROM stream_positions WHERE milliseconds > $1';
    expect(await fixture.database.query(positions, [YEAR_9999_MS])).toEqual([{ count: 0 }]);
    await fixture.stop();
  },
  HOSTILE_WITHIN_MS,
);
