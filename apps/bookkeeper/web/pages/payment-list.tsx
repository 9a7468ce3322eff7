import type { ListedPayment } from '@tollgate/book';

import { explorerOf, nameAsset, showMoney, type SellerFacts } from '../data/format.js';
import { useLive } from '../data/live.js';
import { explainReason } from '../data/reasons.js';
import { linkTo } from '../data/route.js';
import { Pager, usePaging } from '../parts/pager.js';
import { HexText, Reading, State, Table, Time } from '../parts/parts.js';

interface ListProps {
  readonly label: string;
  /** Of `GET /operator/payments`, without the cursor. */
  readonly search: Readonly<Record<string, string>>;
  readonly seller: SellerFacts;
  readonly empty: preact.ComponentChildren;
  /** Shows of each what is left to pay back, and why it is here in place of its route. */
  readonly isOwed?: boolean;
}

/** A page of payments, live, with a way to the next page and back to the first. */
export function PaymentList({ label, search, seller, empty, isOwed = false }: ListProps) {
  const paging = usePaging(new URLSearchParams(search).toString());
  const { cursor } = paging;
  const page = useLive('GET /operator/payments', { query: { ...search, cursor } });
  return (
    <>
      <Reading of={page} />
      <Table
        label={label}
        rows={page.data?.payments}
        empty={empty}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Time',
            show: ({ id, at }) => (
              <a href={linkTo('payments', id)}>
                <Time at={at} />
              </a>
            ),
          },
          { name: 'State', show: ({ state }) => <State state={state} /> },
          {
            name: isOwed ? 'Owed' : 'Amount',
            show: ({ amount, refunded, ...payment }) => {
              if (amount === null) return 'unknown';
              const shown = isOwed ? String(BigInt(amount) - BigInt(refunded)) : amount;
              return showMoney(shown, nameAsset(payment), seller);
            },
            isNumber: true,
          },
          isOwed
            ? { name: 'Reason', show: explain }
            : {
                name: 'Route',
                show: ({ route, path, forOther }) => (forOther ? 'for another seller' : (path ?? route ?? 'none')),
              },
          { name: 'Payer', show: ({ payer }) => (payer === null ? 'unknown' : <HexText text={payer} />) },
          {
            name: 'Transaction',
            show: (payment) => <HexText text={payment.transaction} explorer={explorerOf(seller, nameAsset(payment))} />,
          },
        ]}
      />
      <Pager paging={paging} next={page.data?.cursor ?? null} />
    </>
  );
}

function explain(payment: ListedPayment): string {
  const { reason, releaseReason } = payment;
  const why = explainState(payment);
  // The seller asks what its API answered, also where the payment was refused or closed since.
  if (releaseReason === null || releaseReason === reason) return why;
  return `${why}; released before: ${explainReason(releaseReason)}`;
}

function explainState({ reason, state }: ListedPayment): string {
  // The reason of a refund is a person's text, and no code.
  if (state === 'refunding' || state === 'refunded') return reason ?? 'closed for a refund';
  if (reason !== null) return explainReason(reason);
  return state === 'unclaimed' ? 'no request' : 'none';
}
