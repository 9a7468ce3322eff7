import { askForRefunds } from '../../test/ask-for-refunds.js';
import {
  answered,
  ASSET,
  refunded,
  refunding,
  refused,
  RELAYER,
  settled,
  transferId,
  authorizationId,
} from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { readSummary } from './read-summary.js';

/** When the sample events begin. */
const START_MS = Date.UTC(2026, 10, 25, 10);
const NOW_MS = START_MS + 90_000;

describe('the summary of the book', () => {
  const book = useTestBook({ isKept: true });

  it('of an empty book has all its points, and nothing in them', async () => {
    for (const [window, points] of [
      ['hour', 60],
      ['day', 96],
      ['month', 124],
    ] as const) {
      const summary = await readSummary(book.database, window, NOW_MS);
      expect(summary.points).toHaveLength(points);
      expect(new Set(summary.points.map(({ counts, p50Ms }) => JSON.stringify([counts, p50Ms])))).toEqual(
        new Set(['[{},null]']),
      );
      expect([summary.durations, summary.gasOfLastDay]).toEqual([[], []]);
    }
  });

  it('counts states, adds up what was sold, and measures the newest answers', async () => {
    const slow = answered(transferId(3), { amount: '5' });
    slow.atMs = START_MS + 60_000;
    const elsewhere = answered(authorizationId(9), { amount: '70', payTo: RELAYER, forOther: true });
    const news = answered(transferId(1), { route: '/api/news' });
    const events = [news, answered(transferId(2)), slow, refused(transferId(4)), elsewhere];
    const settlement = settled([authorizationId(5)]);
    await book.post(...events, settlement);
    const { points, routes, durations, gasOfLastDay, stepMs, from } = await readSummary(book.database, 'hour', NOW_MS);
    expect([stepMs, from]).toEqual([60_000, new Date(START_MS - 58 * 60_000).toISOString()]);
    expect(points.slice(-2)).toEqual([
      {
        at: new Date(START_MS).toISOString(),
        counts: { answered: 2, refused: 1, settled: 1 },
        sold: { [`1328:${ASSET}`]: '20000' },
        forOthers: { [`1328:${ASSET}`]: '70' },
        p50Ms: 10,
        p99Ms: 10,
      },
      {
        at: new Date(START_MS + 60_000).toISOString(),
        counts: { answered: 1 },
        sold: { [`1328:${ASSET}`]: '5' },
        forOthers: {},
        p50Ms: 60_000,
        p99Ms: 60_000,
      },
    ]);
    const asset = `1328:${ASSET}`;
    expect(routes).toEqual([
      { route: '/api/weather', asset, amount: '10005' },
      { route: '/api/news', asset, amount: '10000' },
    ]);
    expect(durations).toEqual([
      { step: 'verify', p50Ms: 2, p99Ms: 2 },
      { step: 'reply', p50Ms: 0, p99Ms: 0 },
      { step: 'fulfil', p50Ms: 2, p99Ms: 2 },
      { step: 'commit', p50Ms: 7, p99Ms: 59_997 },
      { step: 'whole', p50Ms: 10, p99Ms: 60_000 },
    ]);
    const wei = String(60_000n * 2_000_000_000n);
    expect(gasOfLastDay).toEqual([{ sender: RELAYER, chainId: 1328, wei, transactions: 1 }]);
  });

  it('takes from what was sold only what was refunded of it', async () => {
    const [sale, arrived] = [transferId(6), transferId(7)];
    const sold = [answered(sale), refunding(sale), refunded(sale, '1000')];
    const events = [...sold, refused(arrived), refunding(arrived), refunded(arrived, '4000')];
    await askForRefunds(book.database, ...events);
    await book.post(...events);
    const { points, routes } = await readSummary(book.database, 'hour', NOW_MS);
    expect(points.at(-2)).toMatchObject({
      counts: { answered: 2, refunded: 2 },
      sold: { [`1328:${ASSET}`]: '29000' },
    });
    expect(routes).toMatchObject([{ amount: '19005' }, { amount: '10000' }]);
  });

  it('says that a sale was sold when it was answered, whenever it is refunded', async () => {
    const old = [answered(transferId(8)), refunding(transferId(8)), refunded(transferId(8), '1000')] as const;
    // A day after the other samples.
    const [answeredMs, nowMs] = [NOW_MS - 40 * 86_400_000, NOW_MS + 86_400_000];
    old[0].atMs = answeredMs;
    old[1].atMs = nowMs - 2;
    old[2].atMs = nowMs - 1;
    await askForRefunds(book.database, ...old);
    await book.post(...old);
    const { points, routes } = await readSummary(book.database, 'hour', nowMs);
    expect(points.at(-1)?.counts).toEqual({ refunded: 1 });
    expect(routes).toEqual([]);
    expect(points.every(({ sold }) => Object.keys(sold).length === 0)).toBe(true);
  });

  it('leaves out what is older than its window', async () => {
    const { points, routes, gasOfLastDay } = await readSummary(book.database, 'hour', NOW_MS + 7_200_000);
    expect(points.every(({ counts }) => Object.keys(counts).length === 0)).toBe(true);
    expect(routes).toEqual([]);
    expect(gasOfLastDay).toHaveLength(1);
    expect((await readSummary(book.database, 'month', NOW_MS + 25 * 3_600_000)).gasOfLastDay).toEqual([]);
  });
});
