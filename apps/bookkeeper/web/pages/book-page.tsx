import type { BookVerdict } from '@tollgate/book';
import { useState } from 'preact/hooks';

import { consoleAddress, askOperator } from '../data/api.js';
import { showCount, shorten, showMoney, type SellerFacts } from '../data/format.js';
import { useLive } from '../data/live.js';
import { WriteButton } from '../parts/confirm.js';
import { Facts, Failure, Reading, Table, Time } from '../parts/parts.js';
import { useWork } from '../parts/work.js';
import { ReconciledSection } from './reconciled.js';

const SHOWN_CLOSINGS = 10;

/** Balances, closings, exports and what people did. */
export function BookPage({ seller }: { seller: SellerFacts }) {
  const balances = useLive('GET /operator/balances', {});
  return (
    <>
      <h1>Book</h1>
      <h2>Balances</h2>
      <Reading of={balances} />
      <Table
        label="Balance of each account"
        rows={balances.data?.balances}
        empty="Nothing is booked yet."
        keyOf={({ account, asset }) => account + asset}
        columns={[
          { name: 'Account', show: ({ account }) => account },
          {
            name: 'Debit',
            show: ({ asset, amount }) => (amount.startsWith('-') ? '' : showMoney(amount, asset, seller)),
            isNumber: true,
          },
          {
            name: 'Credit',
            show: ({ asset, amount }) => (amount.startsWith('-') ? showMoney(amount.slice(1), asset, seller) : ''),
            isNumber: true,
          },
        ]}
      />
      <ReconciledSection seller={seller} />
      <Closings />
      <Exports />
      <Acts />
    </>
  );
}

function Closings() {
  const health = useLive('GET /operator/health', {});
  const closings = useLive('GET /operator/closings', {});
  return (
    <>
      <h2>Closings</h2>
      <Reading of={closings.problem === null ? health : closings} />
      {health.data !== null && (
        <Facts
          facts={[
            [
              'Complete from',
              health.data.completeFrom === null ? 'not known: set BOOK=on' : <Time at={health.data.completeFrom} />,
            ],
            ['Bookings', showCount(health.data.lastBooking, 'booking')],
            ['Newest chain hash', <code key="hash">{health.data.chainHash}</code>],
            ['Key of the closings', <code key="key">{health.data.closingKey}</code>],
            ['Database', `${health.data.kind}, held by ${health.data.holder}, epoch ${health.data.epoch}`],
          ]}
        />
      )}
      <Table
        label="The newest closings"
        rows={closings.data?.closings.slice(0, SHOWN_CLOSINGS)}
        empty="No day is closed yet: a day is closed after its end, UTC."
        keyOf={({ hash }) => hash}
        columns={[
          { name: 'Number', show: ({ content }) => content.number },
          { name: 'Day', show: ({ content }) => content.day },
          { name: 'Bookings', show: ({ content }) => `${content.firstBooking} to ${content.lastBooking}` },
          { name: 'Root', show: ({ content }) => <code title={content.root}>{shorten(content.root)}</code> },
          { name: 'Hash', show: ({ hash }) => <code title={hash}>{shorten(hash)}</code> },
        ]}
      />
      <div class="buttons">
        <VerifyButton />
        <WriteButton
          act="Close the book now"
          scope="operator:approve"
          run={() => askOperator('POST /operator/closings', {})}
          onDone={closings.reload}
        >
          <p>All that is booked so far, of today too, is closed and signed.</p>
        </WriteButton>
      </div>
    </>
  );
}

function VerifyButton() {
  const [verdict, setVerdict] = useState<BookVerdict | null>(null);
  const { isBusy, problem, run } = useWork();
  const verify = async (): Promise<void> => {
    setVerdict(null);
    await run(async () => setVerdict(await askOperator('GET /operator/verification', {})));
  };
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => void verify()}>
        {isBusy ? 'Verifying…' : 'Verify all of it'}
      </button>
      <span role="status">
        {verdict?.broken === null &&
          `All fits: ${showCount(verdict.bookings, 'booking')}, ${verdict.entries} entries, ${showCount(verdict.closings, 'closing')}.`}
      </span>
      {typeof verdict?.broken === 'string' && (
        <p class="failure" role="alert">
          The book is broken. {verdict.broken}
        </p>
      )}
      <Failure problem={problem} />
    </>
  );
}

function Exports() {
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const linkOf = (table: string, format: string): string =>
    consoleAddress('GET /operator/exports/:table', {
      table,
      query: { format, from: from || undefined, to: to || undefined },
    });
  return (
    <>
      <h2>Exports</h2>
      <div class="search">
        <label>
          From, UTC
          <input type="date" value={from} onInput={(event) => setFrom(event.currentTarget.value)} />
        </label>
        <label>
          Before, UTC
          <input type="date" value={to} onInput={(event) => setTo(event.currentTarget.value)} />
        </label>
      </div>
      <ul>
        {['payments', 'entries'].flatMap((table) =>
          (['csv', 'jsonl'] as const).map((format) => (
            <li key={table + format}>
              <a href={linkOf(table, format)} download={`${table}.${format}`}>
                {table} as {format === 'csv' ? 'CSV' : 'JSON lines'}
              </a>
            </li>
          )),
        )}
      </ul>
    </>
  );
}

function Acts() {
  const [before, setBefore] = useState<number | null>(null);
  const acts = useLive('GET /operator/audit', { query: { limit: 20, before: before ?? undefined } });
  const next = acts.data?.next ?? null;
  return (
    <>
      <h2>What people did</h2>
      <Reading of={acts} />
      <Table
        label="Writes through the operator API"
        rows={acts.data?.acts}
        empty="No one has written through the operator API yet."
        keyOf={({ id }) => id}
        columns={[
          { name: 'Time', show: ({ at }) => <Time at={at} /> },
          { name: 'Act', show: ({ action }) => action },
          { name: 'Of', show: ({ subject }) => <span title={subject}>{shorten(subject)}</span> },
          { name: 'Key', show: ({ keyId }) => <code>{keyId}</code> },
        ]}
      />
      {(before !== null || next !== null) && (
        <div class="buttons">
          <button type="button" disabled={before === null} onClick={() => setBefore(null)}>
            Newest acts
          </button>
          <button type="button" disabled={next === null} onClick={() => setBefore(next)}>
            Older acts
          </button>
        </div>
      )}
    </>
  );
}
