import type { ListedDifference } from '@tollgate/book';
import type { ReconcileAnswer } from '@tollgate/operator-api';

import { explorerOf, nameToken, showCount, showMoney, type SellerFacts } from '../data/format.js';
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

export function showUnreconciled({ unreconciled }: Pick<ReconcileAnswer, 'unreconciled'>, seller: SellerFacts): string {
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
          {data.scopes.map((scope) => (
            <Scope key={`${nameScope(scope)} ${scope.recipient}`} scope={scope} answer={data} seller={seller} />
          ))}
          {LISTS.map(([list, title]) => (
            <Differences key={list} title={title} rows={data[list]} seller={seller} />
          ))}
        </>
      )}
    </>
  );
}

type ComparedScope = ReconcileAnswer['scopes'][number];

const nameScope = ({ chainId, asset }: ComparedScope): string => `${chainId}:${asset}`;

/** How far one token has been compared. */
function Scope({ scope, answer, seller }: { scope: ComparedScope; answer: ReconcileAnswer; seller: SellerFacts }) {
  const { comparedAt, trouble, readUntil, block, waiting } = scope;
  const option = seller.options.find(({ chainId, asset }) => `${chainId}:${asset.address}` === nameScope(scope));
  const unreconciled = answer.unreconciled.filter(({ asset }) => isOf(asset, scope, answer));
  return (
    <Facts
      facts={[
        ['Token', answer.scopes.length === 1 ? null : option && nameToken(option, seller)],
        ['Paid to', answer.scopes.length === 1 ? null : <code key="to">{scope.recipient}</code>],
        ['Unreconciled', showUnreconciled({ unreconciled }, seller)],
        ['Compared', comparedAt === null ? 'not yet' : <Time key="at" at={comparedAt} />],
        ['Trouble', trouble],
        ['Read until', readUntil === null ? 'nothing yet' : <Time key="until" at={readUntil} />],
        ['Newest block', block === null ? 'none' : String(block)],
        [
          'Too new to compare',
          `${showCount(waiting.transfers, 'transfer')}, ${showCount(waiting.payments, 'payment')}`,
        ],
      ]}
    />
  );
}

/** A token is shown once; coins and other tokens are shown with the first one of their chain. */
function isOf(asset: string, scope: ComparedScope, { scopes }: ReconcileAnswer): boolean {
  const own = scopes.find((other) => asset === nameScope(other));
  return scope === (own ?? scopes.find(({ chainId }) => asset.startsWith(`${chainId}:`)));
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
        keyOf={({ asset, subject }) => `${asset} ${subject}`}
        columns={[
          { name: 'Time', show: ({ at }) => <Time at={at} /> },
          { name: 'Amount', show: ({ amount, asset }) => showMoney(amount, asset, seller), isNumber: true },
          {
            name: 'Transaction',
            show: ({ transaction, asset }) => <HexText text={transaction} explorer={explorerOf(seller, asset)} />,
          },
          { name: 'Why', show: ({ reason }) => reason },
        ]}
      />
    </>
  );
}
