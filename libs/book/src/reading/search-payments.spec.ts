import { askForRefunds } from '../../test/ask-for-refunds.js';
import { answered, hashOf, refunded, refunding, refused, released, transferId } from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import type { Queryable, SqlValue } from '../database/database.js';
import { SqlRefundRows } from '../refund-rows/refund-rows.js';
import { countLeftOver, searchPayments } from './search-payments.js';

const PAID_BACK = 400;

describe('what is owed, in a book with many refunds', () => {
  const book = useTestBook();

  beforeEach(async () => {
    const events = Array.from({ length: PAID_BACK }, (_, number) => {
      const id = transferId(number);
      return [refused(id), refunding(id), refunded(id, '10000', hashOf(10_000 + number))];
    });
    const owed = transferId(PAID_BACK);
    const [first, last] = [released(owed), released(owed)];
    Object.assign(last, { atMs: first.atMs + 1, facts: { ...last.facts, reason: 'answered_502' } });
    // In another order than they happened.
    const all = [...events.flat(), refused(owed), refunding(owed), last, first, answered(transferId(PAID_BACK + 1))];
    await askForRefunds(book.database, ...all);
    await book.post(...all);
  });

  /** The plans of the statements that the work makes. */
  async function explain<T>(work: (within: Queryable) => Promise<T>): Promise<{ result: T; plans: string }> {
    return book.database.transaction(async (within) => {
      const asked: [string, readonly SqlValue[]][] = [];
      const result = await work({
        query: (sql, values = []) => {
          asked.push([sql, values]);
          return within.query(sql, values);
        },
      });
      const plans: string[] = [];
      for (const [sql, values] of asked) {
        const lines = await within.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, values);
        plans.push(...lines.map((line) => line['QUERY PLAN']));
      }
      return { result, plans: plans.join('\n') };
    });
  }

  it('is found without reading what was paid back', async () => {
    const { result, plans } = await explain((within) => searchPayments(within, { owed: true }, { limit: 10 }));
    expect(result.payments).toMatchObject([{ id: transferId(PAID_BACK), releaseReason: 'answered_502' }]);
    expect(plans).toMatch(/payments_owed/);
    expect(plans).not.toMatch(/Seq Scan on payments|payments_by_state/);
  });

  /** The same payment under as many other ids. */
  const repeat = (id: string, times: number) =>
    book.database.transaction((within) =>
      within.query(
        `INSERT INTO payments SELECT (jsonb_populate_record(payments, jsonb_build_object('id', id || number))).*
          FROM payments, generate_series(1, $2::integer) AS number WHERE id = $1`,
        [id, times],
      ),
    );

  it('is counted where it is closed, without reading what else is owed or was paid back', async () => {
    const open = transferId(PAID_BACK + 2);
    await book.post(refused(open));
    await repeat(open, PAID_BACK);
    const { result, plans } = await explain(countLeftOver);
    expect(result).toBe(1);
    expect(plans).toMatch(/payments_left_over/);
    expect(plans).not.toMatch(/Seq Scan on payments|payments_by_state|payments_owed/);
  });

  it('is counted whole where much is closed', async () => {
    await repeat(transferId(PAID_BACK), 1_000);
    expect((await explain(countLeftOver)).result).toBe(1_001);
  });

  it('shows by which refund a transaction was taken, without reading the others', async () => {
    // A book that was restored has the event, and not the refund.
    await book.database.execute('DELETE FROM refunds');
    const find = (within: Queryable) => new SqlRefundRows(within).findPaidBy(hashOf(10_007), 'r1-1');
    const { result, plans } = await explain(find);
    expect(result).toBe(transferId(7));
    expect(plans).toMatch(/payments_paid_back/);
    expect(plans).not.toMatch(/Seq Scan on payments|payments_by_state/);
  });
});
