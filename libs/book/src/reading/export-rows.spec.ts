import { setImmediate as nextTurn } from 'node:timers/promises';

import { answered, sampleBookings, refunding, transferId } from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import type { Queryable, SqlValue } from '../database/database.js';
import { storeBookings } from '../posting/store-bookings.js';
import { readExport } from './export-rows.js';

const START_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const [DAYS, BOOKED_A_DAY, PAGE] = [8, 700, 1_000];
const ALL = DAYS * BOOKED_A_DAY;

interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

describe('the export of entries', () => {
  const book = useTestBook({ isKept: true });

  beforeAll(async () => {
    for (let day = 0; day < DAYS; day++) {
      await book.writer.write((within) => storeBookings(within, sampleBookings(BOOKED_A_DAY), START_MS + day * DAY_MS));
    }
    await book.database.query('ANALYZE entries, bookings');
  });

  /** The entries from a day until another, and what was asked for them. */
  async function exportDays(from: number, to: number) {
    const asked: [sql: string, values: readonly SqlValue[]][] = [];
    const within: Queryable = {
      query: (sql, values = []) => {
        asked.push([sql, values]);
        return book.database.query(sql, values);
      },
    };
    const entries: number[] = [];
    const range = { fromMs: START_MS + from * DAY_MS, toMs: START_MS + to * DAY_MS };
    for await (const rows of readExport(within, 'entries', range)) entries.push(...rows.map(([id]) => Number(id)));
    return { entries, asked };
  }

  it.each([
    ['no day', -3, -1, 0, 0],
    ['all days', -1, DAYS + 1, 0, 2 * ALL],
    ['the first day', 0, 1, 0, 2 * BOOKED_A_DAY],
    ['a part of the days', 2, 5, 4 * BOOKED_A_DAY, 10 * BOOKED_A_DAY],
    ['what came after noon', 2.5, 5, 6 * BOOKED_A_DAY, 10 * BOOKED_A_DAY],
    ['the last day', DAYS - 1, DAYS, 2 * (ALL - BOOKED_A_DAY), 2 * ALL],
    ['days to come', DAYS, DAYS + 1, 0, 0],
  ])('has those of %s', async (_, from, to, after, upTo) => {
    const { entries } = await exportDays(from, to);
    expect(entries).toEqual(Array.from({ length: upTo - after }, (_one, index) => after + index + 1));
  });

  it('lets other work have its turn before each page', async () => {
    let [turns, isOver] = [0, false];
    const takeTurns = async (): Promise<void> => {
      for (; !isOver; await nextTurn()) turns += 1;
    };
    const others = takeTurns();
    const before = turns;
    const { asked } = await exportDays(0, DAYS);
    const pages = asked.filter(([sql]) => sql.includes('LIMIT $4')).length;
    expect(pages).toBeGreaterThan(5);
    expect(turns - before).toBeGreaterThanOrEqual(pages);
    isOver = true;
    await others;
  });

  it('reads nothing but its own days', async () => {
    const { asked } = await exportDays(3, 4);
    let read = 0;
    for (const [sql, values] of asked) {
      const [row] = await book.database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
        values,
      );
      read += countRead(row!['QUERY PLAN'][0].Plan);
    }
    // And of the last page what comes after them.
    expect(read).toBeLessThanOrEqual(2 * BOOKED_A_DAY + PAGE);
  });
});

describe('the export of payments', () => {
  const book = useTestBook();

  it('has each payment once, also one that changes meanwhile', async () => {
    const ids = Array.from({ length: PAGE + 1 }, (_, number) => transferId(number));
    await book.post(...ids.map((id) => answered(id)));
    const exported: (string | null | undefined)[] = [];
    for await (const rows of readExport(book.database, 'payments', { fromMs: 0, toMs: Date.UTC(9999, 0) })) {
      exported.push(...rows.map(([id]) => id));
      await book.post(refunding(exported[0]!));
    }
    expect(exported.sort()).toEqual(ids.sort());
  });
});

/** The entries that a plan has read. */
function countRead({ Plans: plans = [], ...plan }: Plan): number {
  const read = plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0);
  return (plan['Relation Name'] === 'entries' ? read : 0) + plans.reduce((sum, one) => sum + countRead(one), 0);
}
