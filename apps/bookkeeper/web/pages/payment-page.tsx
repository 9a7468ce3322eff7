import type { PaymentPicture, TimelineStep } from '@tollgate/book';

import { explorerOf, nameAsset, showMoney, showDuration, type SellerFacts } from '../data/format.js';
import { useLive } from '../data/live.js';
import { explainReason } from '../data/reasons.js';
import { linkTo } from '../data/route.js';
import { Facts, HexText, Reading, State, Table, Time } from '../parts/parts.js';
import { RefundSection } from './refund.js';

const STEPS: Readonly<Record<string, string>> = {
  presented: 'The request came in',
  claimed: 'The verifier had judged it, and claimed it for this request',
  verified: 'The gateway had the verdict',
  fulfilled: 'The resource had answered',
  settled: 'The relayer’s transaction moved the money',
  answered: 'The answer was stored and sent',
  released: 'It bought nothing, and was released',
  refused: 'It was refused',
  arrived: 'The money arrived without a request',
  refunding: 'It was closed for a refund',
  refunded: 'It was paid back',
};

/** One payment: what it was, what became of it, and its entries in the book. */
export function PaymentView({ id, seller }: { id: string; seller: SellerFacts }) {
  const payment = useLive('GET /operator/payments/:id', { id });
  const { data } = payment;
  return (
    <>
      <p>
        <a href={linkTo('payments')}>All payments</a>
      </p>
      <h1>Payment</h1>
      <Reading of={payment} />
      {data !== null && <Picture payment={data} seller={seller} />}
    </>
  );
}

function Picture({ payment, seller }: { payment: PaymentPicture; seller: SellerFacts }) {
  const { id, state, amount, refunded, route, requestId, payer, recipient, transaction, reason, scheme } = payment;
  const asset = nameAsset(payment);
  const { forOther, path, query, releaseReason } = payment;
  return (
    <>
      <Facts
        facts={[
          ['State', <State key="state" state={state} />],
          ['Reason', reason && <Reason key="reason" code={reason} />],
          [
            'Released',
            releaseReason === reason ? null : releaseReason && <Reason key="released" code={releaseReason} />,
          ],
          ['Amount', amount === null ? 'not known' : showMoney(amount, asset, seller)],
          ['Paid back', refunded === '0' ? null : showMoney(refunded, asset, seller)],
          ['Route', route ?? 'none'],
          ['Path', path && <code key="path">{query ? `${path}?${query}` : path}</code>],
          ['Scheme', scheme ?? 'not known'],
          ['Payer', payer === null ? 'not known' : <code key="payer">{payer}</code>],
          ['Recipient', recipient === null ? 'not known' : <code key="to">{recipient}</code>],
          ['Whose', forOther ? 'another seller’s: the facilitator settled it, and you paid the gas' : null],
          ['Transaction', <HexText key="tx" text={transaction} explorer={explorerOf(seller, asset)} />],
          ['Request id', requestId ?? 'none'],
          ['Reference', <code key="id">{id}</code>],
        ]}
      />
      <h2>Timeline</h2>
      <Timeline steps={payment.timeline} />
      {id.startsWith('dust:') ? (
        <p class="hint">
          The sum of this payer’s transfers in the transaction that are too small to be paid back one by one.
        </p>
      ) : (
        <RefundSection payment={id} seller={seller} />
      )}
      <h2>In the book</h2>
      <Table
        label="Entries of this payment"
        rows={payment.entries}
        keyOf={({ id: entry }) => entry}
        columns={[
          { name: 'Booking', show: ({ booking, kind }) => `${booking}, ${kind}` },
          { name: 'Booked', show: ({ bookedAt }) => <Time at={bookedAt} /> },
          { name: 'Account', show: ({ account }) => account },
          { name: 'Amount', show: ({ amount: units, asset: unit }) => showMoney(units, unit, seller), isNumber: true },
        ]}
      />
      <details>
        <summary>What the services reported</summary>
        <pre tabIndex={0}>{JSON.stringify(payment.reported, null, 2)}</pre>
      </details>
    </>
  );
}

function Reason({ code }: { code: string }) {
  const words = explainReason(code);
  return words === code ? (
    code
  ) : (
    <>
      {words} <code>{code}</code>
    </>
  );
}

function Timeline({ steps }: { steps: readonly TimelineStep[] }) {
  return (
    <ol class="timeline">
      {steps.map(({ step, at, detail }, index) => {
        const before = steps[index - 1];
        return (
          <li key={step + at}>
            <Time at={at} /> <b>{step}</b> {STEPS[step] ?? ''} {detail !== undefined && <code>{detail}</code>}
            {before !== undefined && (
              <span class="hint"> after {showDuration(Date.parse(at) - Date.parse(before.at))}</span>
            )}
          </li>
        );
      })}
    </ol>
  );
}
