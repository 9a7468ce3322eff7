import { compareRuns, formatComparison } from '../../bench/compare.js';
import type { LaneResult, LaneRow } from '../../bench/lane.js';

const run = (...rows: Partial<LaneRow>[]): LaneResult => ({
  lane: 'some',
  title: 'some lane',
  rows: rows.map((row) => ({ case: 'one', subject: 'gate', ...row })),
});
const rates = (...values: number[]) => values.map((perSecond) => run({ perSecond }));
const compare = (olds: LaneResult[], news: LaneResult[]) => compareRuns('some', olds, news);

describe('compareRuns', () => {
  it.each([
    ['a machine that grows slower steadily', [100, 80, 60], [90, 70], 1, null],
    ['a difference smaller than between old runs', [100, 130, 100], [140, 140], 1.22, null],
    ['a faster checkout', [100, 110, 100], [150, 160], 1.48, 'faster'],
    ['a slower checkout', [100, 110, 100], [80, 80], 0.76, 'slower'],
  ])('of %s', (_, olds, news, ratio, verdict) => {
    const [row] = compare(rates(...olds), rates(...news)).rows;
    expect(row).toMatchObject({ measure: 'per second', verdict });
    expect(row?.ratio).toBeCloseTo(ratio, 2);
    expect(row?.oldByOld[1]).toBeCloseTo(Math.max(...olds) / Math.min(...olds));
  });

  it('reads latencies where there is no rate: the lower is the faster', () => {
    const latencies = (...values: number[]) => values.map((p50Ms) => run({ p50Ms }));
    expect(compare(latencies(10, 10), latencies(5)).rows).toMatchObject([{ measure: 'p50 ms', verdict: 'faster' }]);
  });

  it('compares the rate by a used core too, where both checkouts have it', () => {
    const cores = (...values: number[]) => values.map((perCore) => run({ perSecond: 10, perCore }));
    expect(compare(cores(100, 100), cores(80)).rows).toMatchObject([
      { measure: 'per second', ratio: 1, verdict: null },
      { measure: 'per core', ratio: 0.8, verdict: 'slower' },
    ]);
  });

  it('compares the CPU time of an answer where the newer checkout prints it: the lower is the faster', () => {
    const older = [run({ perSecond: 10, perCore: 250 }), run({ perSecond: 10, perCore: 250 })];
    const newer = [run({ perSecond: 10, perCore: 500, detail: { 'CPU ms per answer': 2 } })];
    expect(compare(older, newer).rows[2]).toMatchObject({
      measure: 'CPU ms per answer',
      old: 4,
      new: 2,
      ratio: 0.5,
      verdict: 'faster',
    });
  });

  it('names the rows that cannot be compared', () => {
    const compared = compare([run({ perSecond: 1 }, { case: 'two' }), run({ perSecond: 1 })], [run({ perSecond: 1 })]);
    expect(compared).toMatchObject({ rows: [{ case: 'one' }], left: ['two, gate'] });
    expect(formatComparison(compared)).toContain('Not compared');
  });
});
