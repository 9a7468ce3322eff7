import { z } from 'zod';

import { BOOKED_STATES, type BookedState } from '../bookings/booked-states.js';
import type { Queryable } from '../database/database.js';

const sums = z.record(z.string(), z.string());

/** A part of the summary's time: `[at, at + stepMs)`. */
const summaryPoint = z.object({
  at: z.string(),
  counts: z
    .partialRecord(z.enum(BOOKED_STATES), z.int())
    .describe(
      "The seller's own payments by their state now, at the time of their last event. A state without any is missing.",
    ),
  sold: sums.describe(
    'What payments that were answered then brought, less what was refunded of them since, by asset: base units.',
  ),
  forOthers: sums.describe(
    'What the facilitator moved to other sellers, by asset: base units. It is in none of the figures above.',
  ),
  p50Ms: z.number().nullable().describe('Milliseconds from the request to the committed answer; null without one.'),
  p99Ms: z.number().nullable(),
});

const routeSales = z.object({ route: z.string().nullable(), asset: z.string(), amount: z.string() });
export type RouteSales = z.output<typeof routeSales>;

const stepDuration = z.object({
  step: z.enum(['verify', 'reply', 'fulfil', 'commit', 'whole']),
  p50Ms: z.number(),
  p99Ms: z.number(),
});
export type StepDuration = z.output<typeof stepDuration>;

const gasSpent = z.object({ sender: z.string(), chainId: z.int(), wei: z.string(), transactions: z.int() });
export type GasSpent = z.output<typeof gasSpent>;

export const bookSummary = z.object({
  from: z.string(),
  to: z.string(),
  stepMs: z.int(),
  points: z.array(summaryPoint).readonly().describe('Oldest first, without gaps; the last one is not over yet.'),
  routes: z.array(routeSales).readonly().describe("What the points' `sold` is made of, the most first."),
  durations: z
    .array(stepDuration)
    .readonly()
    .describe('How long a step of an answer took: milliseconds, of the payments whose events report both its ends.'),
  gasOfLastDay: z.array(gasSpent).readonly().describe('What each account of ours has paid for gas in the last day.'),
});
export type BookSummary = z.output<typeof bookSummary>;

export const SUMMARY_WINDOWS = ['hour', 'day', 'month'] as const;
export type SummaryWindow = (typeof SUMMARY_WINDOWS)[number];

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const WINDOWS: Readonly<Record<SummaryWindow, { stepMs: number; points: number }>> = {
  hour: { stepMs: MINUTE_MS, points: 60 },
  day: { stepMs: 15 * MINUTE_MS, points: 96 },
  month: { stepMs: DAY_MS / 4, points: 124 },
};
/** Durations are those of the newest answers, so that a month of them does not hold up the book. */
const MEASURED = 5_000;

/** Money, counts and durations of the last hour, day or month up to `nowMs`, in milliseconds since 1970. */
export async function readSummary(within: Queryable, window: SummaryWindow, nowMs: number): Promise<BookSummary> {
  const { stepMs, points } = WINDOWS[window];
  const fromMs = (Math.floor(nowMs / stepMs) - points + 1) * stepMs;
  const from = new Date(fromMs).toISOString();
  const { byPoint, byRoute } = await readCounts(within, { fromMs, nowMs, stepMs });
  const measured = await readDurations(within, from, stepMs);
  return {
    from,
    to: new Date(nowMs).toISOString(),
    stepMs,
    points: Array.from({ length: points }, (_, index) => {
      const atMs = fromMs + index * stepMs;
      const { counts = {}, sold = {}, forOthers = {} } = byPoint.get(atMs) ?? {};
      return {
        at: new Date(atMs).toISOString(),
        counts,
        sold,
        forOthers,
        ...(measured.byPoint.get(atMs) ?? UNMEASURED),
      };
    }),
    routes: byRoute,
    durations: measured.durations,
    gasOfLastDay: await readGas(within, new Date(nowMs - DAY_MS).toISOString()),
  };
}

const UNMEASURED = { p50Ms: null, p99Ms: null };
/** The start of the point that a time is in: milliseconds since 1970. `$2` is the length of a point. */
const POINT = '(floor(extract(epoch FROM at) * 1000 / $2::bigint) * $2::bigint)::bigint';
/** The start of the point in which a sale was answered, which a refund does not move; null where nothing was sold. */
const SOLD_IN = `CASE WHEN state IN ('answered', 'refunding', 'refunded')
  THEN (reported #>> '{answered,atMs}')::bigint / $2::bigint * $2::bigint END`;

interface CountRow {
  point: number;
  soldIn: number | null;
  state: BookedState;
  forOther: boolean;
  chain: number | null;
  asset: string | null;
  route: string | null;
  count: number;
  amount: string | null;
}

interface PointCounts {
  readonly counts: { [State in BookedState]?: number };
  readonly sold: Record<string, string>;
  readonly forOthers: Record<string, string>;
}

async function readCounts(within: Queryable, { fromMs, nowMs, stepMs }: Record<'fromMs' | 'nowMs' | 'stepMs', number>) {
  const rows = await within.query<CountRow>(
    `SELECT ${POINT} AS point, ${SOLD_IN} AS "soldIn", state, for_other AS "forOther", chain_id AS chain, asset, route,
      count(*) AS count, sum(amount - refunded)::text AS amount
      FROM payments WHERE at >= $1::timestamptz GROUP BY 1, 2, 3, 4, 5, 6, 7`,
    [new Date(fromMs).toISOString(), stepMs],
  );
  const byRoute = new Map<string, RouteSales>();
  const byPoint = new Map<number, PointCounts>();
  const find = (point: number): PointCounts => {
    const found = byPoint.get(point) ?? { counts: {}, sold: {}, forOthers: {} };
    byPoint.set(point, found);
    return found;
  };
  for (const { point, soldIn, state, forOther, chain, asset, route, count, amount } of rows) {
    const name = `${chain ?? 0}:${asset ?? 'native'}`;
    const add = (sums: Record<string, string>) =>
      (sums[name] = String(BigInt(sums[name] ?? '0') + BigInt(amount ?? '0')));
    if (forOther) {
      if (state === 'answered' || state === 'settled') add(find(point).forOthers);
      continue;
    }
    const { counts } = find(point);
    counts[state] = (counts[state] ?? 0) + count;
    // A sale from before is among the rows for its refund.
    if (soldIn === null || amount === null || soldIn < fromMs || soldIn > nowMs) continue;
    add(find(soldIn).sold);
    const known = byRoute.get(`${name} ${route}`)?.amount ?? '0';
    byRoute.set(`${name} ${route}`, { route, asset: name, amount: String(BigInt(known) + BigInt(amount)) });
  }
  return { byPoint, byRoute: [...byRoute.values()].sort(compareSales) };
}

function compareSales(a: RouteSales, b: RouteSales): number {
  return Number(BigInt(b.amount) - BigInt(a.amount)) || (`${a.route}` < `${b.route}` ? -1 : 1);
}

/** By step, the times of an answer between which it lies, in its report. */
const STEPS: Readonly<Record<StepDuration['step'], readonly [start: string, end: string]>> = {
  verify: ['{timeline,presentedAtMs}', '{timeline,claimedAtMs}'],
  reply: ['{timeline,claimedAtMs}', '{timeline,verifiedAtMs}'],
  fulfil: ['{timeline,verifiedAtMs}', '{timeline,fulfilledAtMs}'],
  commit: ['{timeline,fulfilledAtMs}', '{atMs}'],
  whole: ['{timeline,presentedAtMs}', '{atMs}'],
};
const STEP_NAMES = Object.keys(STEPS) as StepDuration['step'][];

type DurationRow = Record<StepDuration['step'], number[] | null> & { point: number | null };

async function readDurations(within: Queryable, from: string, stepMs: number) {
  const durations = STEP_NAMES.map((step) => {
    const [start, end] = STEPS[step];
    // The clocks of two processes: the difference may be negative.
    return `greatest(0, (answered #>> '${end}')::bigint - (answered #>> '${start}')::bigint) AS ${step}`;
  });
  const quantiles = STEP_NAMES.map(
    (step) => `percentile_disc(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY ${step}) AS ${step}`,
  );
  const rows = await within.query<DurationRow>(
    `WITH newest AS (SELECT at, reported -> 'answered' AS answered FROM payments
        WHERE state = 'answered' AND NOT for_other AND at >= $1::timestamptz ORDER BY at DESC, id DESC LIMIT ${MEASURED}),
      measured AS (SELECT ${POINT} AS point, ${durations.join(', ')} FROM newest)
      SELECT point, ${quantiles.join(', ')} FROM measured GROUP BY GROUPING SETS ((point), ())`,
    [from, stepMs],
  );
  const all = rows.find(({ point }) => point === null);
  return {
    byPoint: new Map(rows.flatMap(({ point, whole }) => (point === null ? [] : [[point, pairOf(whole)] as const]))),
    durations: STEP_NAMES.flatMap((step): StepDuration[] => {
      const { p50Ms, p99Ms } = pairOf(all?.[step] ?? null);
      return p50Ms === null || p99Ms === null ? [] : [{ step, p50Ms, p99Ms }];
    }),
  };
}

function pairOf(quantiles: readonly (number | string)[] | null) {
  const [p50, p99] = quantiles ?? [];
  return p50 === undefined || p99 === undefined ? UNMEASURED : { p50Ms: Number(p50), p99Ms: Number(p99) };
}

async function readGas(within: Queryable, from: string): Promise<GasSpent[]> {
  return within.query<GasSpent>(
    `SELECT sender, chain_id AS "chainId", coalesce(sum(gas_cost), 0)::text AS wei, count(*) AS transactions
      FROM transactions WHERE at >= $1::timestamptz GROUP BY 1, 2 ORDER BY 1, 2`,
    [from],
  );
}
