import type { ListedDifference } from '@tollgate/book';
import type { ReconcileAnswer } from '@tollgate/operator-api';

import { showCount, showMoney, type SellerFacts } from '../data/format.js';
import { useLive, type Live } from '../data/live.js';
import { Empty, Facts, HexText, Reading, Table, Time } from '../parts/parts.js';

const EVERY_MS = 10_000;
const LISTS = [
  ['chainOnly', 'On the chain only'],
  ['bookOnly', 'In the book only'],
  ['different', 'In both, and different'],
] as const;

/** The last comparison of book and chain. */
export function useReconciled(): Live<ReconcileAnswer> {
  return useLive('GET /operator/reconcile', {}, EVERY_MS);
}

/** Whether the bookkeeper compares at all: without an RPC server it does not. */
export function isOff({ problem }: Live<ReconcileAnswer>): boolean {
  return problem?.code === 'reconcile_off';
}

export function showUnreconciled({ unreconciled }: ReconcileAnswer, seller: SellerFacts): string {
  const left = unreconciled.filter(({ amount }) => amount !== '0');
  return left.map(({ asset, amount }) => showMoney(amount, asset, seller)).join(', ') || '0';
}

/** What the book and the chain do not agree about. */
export function ReconciledSection({ seller }: { seller: SellerFacts }) {
  const reconciled = useReconciled();
  const { data } = reconciled;
  return (
    <>
      <h2>Compared with the chain</h2>
      {isOff(reconciled) ? (
        <Empty>
          The bookkeeper does not read the chain. Set <code>RECONCILE_RPC_URL</code>, and each transfer to the seller is
          compared with the book.
        </Empty>
      ) : (
        <Reading of={reconciled} />
      )}
      {data !== null && (
        <>
          <Facts
            facts={[
              ['Unreconciled', showUnreconciled(data, seller)],
              ['Compared', data.comparedAt === null ? 'not yet' : <Time key="at" at={data.comparedAt} />],
              ['Trouble', data.trouble],
              ['Read until', data.readUntil === null ? 'nothing yet' : <Time key="until" at={data.readUntil} />],
              ['Newest block', data.block === null ? 'none' : String(data.block)],
              [
                'Too new to compare',
                `${showCount(data.waiting.transfers, 'transfer')}, ${showCount(data.waiting.payments, 'payment')}`,
              ],
            ]}
          />
          {LISTS.map(([list, title]) => (
            <Differences key={list} title={title} rows={data[list]} seller={seller} />
          ))}
        </>
      )}
    </>
  );
}

function Differences(props: { title: string; rows: readonly ListedDifference[]; seller: SellerFacts }) {
  const { title, rows, seller } = props;
  if (rows.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <Table
        label={title}
        rows={rows}
        keyOf={({ subject }) => subject}
        columns={[
          { name: 'Time', show: ({ at }) => <Time at={at} /> },
          { name: 'Amount', show: ({ amount, asset }) => showMoney(amount, asset, seller), isNumber: true },
          { name: 'Transaction', show: ({ transaction }) => <HexText text={transaction} seller={seller} /> },
          { name: 'Why', show: ({ reason }) => reason },
        ]}
      />
    </>
  );
}
