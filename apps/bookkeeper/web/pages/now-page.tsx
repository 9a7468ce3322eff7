import type { Balance, BookSummary, SummaryWindow } from '@tollgate/book';
import { useMemo, useState } from 'preact/hooks';

import { listSoldTokens, nameToken, showCount, showMoney, showDuration, type SellerFacts } from '../data/format.js';
import { useLive } from '../data/live.js';
import { linkTo } from '../data/route.js';
import { Choice, Empty, Facts, Reading, Table } from '../parts/parts.js';
import { Plot, type Series } from '../parts/plot.js';
import { Verdict } from './verdict.js';

const WINDOWS = ['hour', 'day', 'month'] as const;
const STEPS = {
  verify: 'read the chain, judge the payment and claim it',
  reply: 'bring the verdict to the gateway',
  fulfil: 'ask the resource, and settle a signed payment',
  commit: 'store the answer',
  whole: 'the whole request',
};

/** Is it well, and how much is sold? */
export function NowPage({ seller }: { seller: SellerFacts }) {
  const [window, setWindow] = useState<SummaryWindow>('hour');
  const summary = useLive('GET /operator/summary', { query: { window } }, 15_000);
  const { data } = summary;
  return (
    <>
      <h1>Now</h1>
      <Verdict summary={data} seller={seller} />
      <div class="bar">
        <h2>The last {window}</h2>
        <Choice label="Time that is shown" names={WINDOWS} chosen={window} onChoose={setWindow} />
      </div>
      <Reading of={summary} />
      {data !== null && <Figures summary={data} seller={seller} />}
    </>
  );
}

function Figures({ summary, seller }: { summary: BookSummary; seller: SellerFacts }) {
  const books = useLive('GET /operator/balances', {});
  const balances = books.data?.balances ?? [];
  const totals = useMemo(() => addUp(summary), [summary]);
  const plots = useMemo(() => createPlots(summary, seller), [summary, seller]);
  const whole = summary.durations.find(({ step }) => step === 'whole');
  const owedNow = useMemo(() => addOwed(balances), [books.data]);
  const perMinute = (number: number): string => {
    const minutes = Math.max(1, (Date.parse(summary.to) - Date.parse(summary.from)) / 60_000);
    return `${Math.round((number / minutes) * 100) / 100} a minute`;
  };
  const isEmpty = Object.keys(totals.counts).length === 0 && totals.forOthers.size === 0;
  return (
    <>
      <div class="tiles">
        <Tile name="Sold" value={showAll(totals.sold, seller)} />
        <Tile
          name="Paid answers"
          value={showCount(totals.of('answered'), 'answer')}
          more={perMinute(totals.of('answered'))}
        />
        <Tile
          name="Refused"
          value={showCount(totals.of('refused'), 'payment')}
          more={perMinute(totals.of('refused'))}
        />
        <Tile name="Released" value={showCount(totals.of('released'), 'payment')} more="may be presented again" />
        <Tile
          name="Time to answer"
          value={whole === undefined ? 'no answer yet' : `p50 ${showDuration(whole.p50Ms)}`}
          more={whole === undefined ? '' : `p99 ${showDuration(whole.p99Ms)}`}
        />
        {totals.forOthers.size > 0 && (
          <Tile
            name="Settled for others"
            value={showAll(totals.forOthers, seller)}
            more="not yours; you paid the gas"
          />
        )}
        <Tile name="Owed, in all" value={showAll(owedNow, seller)} more={<a href={linkTo('owed')}>to whom</a>} />
      </div>
      {isEmpty ? (
        <Empty>
          Nothing was paid in this time. A first sale: open the gateway’s page, or run <code>npm run pay -- …</code>.
          Requests without a payment are counted by the gateway’s metrics, not by the book.
        </Empty>
      ) : (
        <div class="plots">
          {plots.map(({ title, series }) => (
            <Plot key={title} title={title} times={plots.times} series={series} />
          ))}
        </div>
      )}
      {summary.durations.length > 0 && (
        <>
          <h2>Where the time goes</h2>
          <Table
            label="Durations of the steps of an answer"
            rows={summary.durations}
            keyOf={({ step }) => step}
            columns={[
              { name: 'Step', show: ({ step }) => `${step}: ${STEPS[step]}` },
              { name: 'p50', show: ({ p50Ms }) => showDuration(p50Ms), isNumber: true },
              { name: 'p99', show: ({ p99Ms }) => showDuration(p99Ms), isNumber: true },
            ]}
          />
        </>
      )}
      {summary.routes.length > 0 && (
        <>
          <h2>Revenue per route</h2>
          <Table
            label="Revenue per route"
            rows={summary.routes}
            keyOf={({ route, asset }) => `${asset} ${route}`}
            columns={[
              { name: 'Route', show: ({ route }) => route || 'none' },
              { name: 'Sold', show: ({ asset, amount }) => showMoney(amount, asset, seller), isNumber: true },
            ]}
          />
        </>
      )}
      <h2>The seller</h2>
      {seller.options.map(({ name, asset, payTo, network, chainId }) => (
        <Facts
          key={name}
          facts={[
            ['Token', `${asset.symbol}, ${asset.decimals} decimals`],
            ['Paid to', <code key="to">{payTo}</code>],
            ['Network', `${network} (chain ${chainId})`],
          ]}
        />
      ))}
    </>
  );
}

function Tile({ name, value, more = '' }: { name: string; value: string; more?: preact.ComponentChildren }) {
  return (
    <div class="tile">
      <span>{name}</span>
      <b>{value}</b>
      <span>{more}</span>
    </div>
  );
}

type Sums = ReadonlyMap<string, bigint>;

function showAll(sums: Sums, seller: SellerFacts): string {
  return [...sums].map(([asset, amount]) => showMoney(String(amount), asset, seller)).join(', ') || '0';
}

function addOwed(balances: readonly Balance[]): Sums {
  const sums = new Map<string, bigint>();
  for (const { account, asset, amount } of balances) {
    // What is owed is a credit, which is negative.
    if (account.startsWith('owed:')) sums.set(asset, (sums.get(asset) ?? 0n) - BigInt(amount));
  }
  return sums;
}

function addUp({ points }: BookSummary) {
  const counts: Record<string, number> = {};
  const [sold, forOthers] = [new Map<string, bigint>(), new Map<string, bigint>()];
  const add = (sums: Map<string, bigint>, amounts: Readonly<Record<string, string>>): void => {
    for (const [asset, amount] of Object.entries(amounts)) sums.set(asset, (sums.get(asset) ?? 0n) + BigInt(amount));
  };
  for (const point of points) {
    for (const [state, number] of Object.entries(point.counts)) counts[state] = (counts[state] ?? 0) + number;
    add(sold, point.sold);
    add(forOthers, point.forOthers);
  }
  return { counts, of: (state: string): number => counts[state] ?? 0, sold, forOthers };
}

function createPlots({ points, stepMs }: BookSummary, seller: SellerFacts) {
  const each = stepMs === 60_000 ? 'per minute' : `per ${showDuration(stepMs)}`;
  type Point = (typeof points)[number];
  const series = (name: string, colour: string, valueOf: (point: Point) => number | null): Series => {
    return { name, colour, values: points.map(valueOf) };
  };
  const list = [
    ...listSoldTokens(seller).map((option) => {
      const { asset, chainId } = option;
      // For the eye: no amount is calculated with it.
      const amountOf = ({ sold }: Point): number =>
        Number(sold[`${chainId}:${asset.address}`] ?? 0) / 10 ** asset.decimals;
      return { title: `${nameToken(option, seller)} sold, ${each}`, series: [series('sold', '--accent', amountOf)] };
    }),
    {
      title: `Payments, ${each}`,
      series: [
        series('paid', '--good', ({ counts }) => counts.answered ?? 0),
        series('refused', '--bad', ({ counts }) => counts.refused ?? 0),
        series('released', '--waiting', ({ counts }) => counts.released ?? 0),
      ],
    },
    {
      title: 'Milliseconds to an answer',
      series: [series('p50', '--accent', ({ p50Ms }) => p50Ms), series('p99', '--waiting', ({ p99Ms }) => p99Ms)],
    },
  ];
  return Object.assign(list, { times: points.map(({ at }) => Date.parse(at) / 1_000) });
}
