import { formatTokenAmount, parseTokenAmount } from '@tollgate/protocol';
import type { Refund, RefundPreview, RefundState } from '@tollgate/refunds';
import { useState } from 'preact/hooks';

import { askOperator } from '../data/api.js';
import { explorerOf, showMoney, type SellerFacts } from '../data/format.js';
import { useLive } from '../data/live.js';
import { linkTo } from '../data/route.js';
import { WriteButton } from '../parts/confirm.js';
import { Facts, HexText, Reading, State, Table, Time } from '../parts/parts.js';

/** The states of refunds of which somebody still has to look at the doubts. */
const DOUBTED: readonly RefundState[] = ['asked', 'closed', 'sending', 'failed'];
const SCOPE = 'operator:refund';
/** A refund's job is in the journal, of which the book's events say nothing. */
const EVERY_MS = 5_000;
const KINDS = {
  account: 'an account',
  contract: 'a contract: another key has to approve',
  one_of_several: 'one of several payers in the transaction: another key has to approve',
};

const assetOf = ({ chainId, asset }: RefundPreview): string => `${chainId}:${asset}`;

/** What a refund of a payment would do, and those that it had. */
export function RefundSection({ payment, seller }: { payment: string; seller: SellerFacts }) {
  const preview = useLive('GET /operator/payments/:id/refund', { id: payment }, EVERY_MS);
  const { data } = preview;
  return (
    <>
      <h2>Refund</h2>
      <Reading of={preview} />
      {data !== null && (
        <>
          <Facts
            facts={[
              ['Arrived', showMoney(data.arrived, assetOf(data), seller)],
              ['Left to pay back', showMoney(data.left, assetOf(data), seller)],
              [
                'To',
                data.recipient === null ? (
                  'not known'
                ) : (
                  <span key="to">
                    <code>{data.recipient.address}</code>, {KINDS[data.recipient.kind]}
                  </span>
                ),
              ],
              ['Approval above, in all', data.approvalAbove && showMoney(data.approvalAbove, assetOf(data), seller)],
            ]}
          />
          <Notes preview={data} />
          <Ask
            // Another refund, amount or recipient is another question, which nobody has said yes to yet.
            key={[data.number, data.boughtAnswer, data.left, data.recipient?.address].join(' ')}
            preview={data}
            seller={seller}
            reload={preview.reload}
          />
          <Refunds seller={seller} preview={data} reload={preview.reload} />
        </>
      )}
    </>
  );
}

/** What speaks against it; that it bought an answer is asked for on its own. */
function Notes({ preview: { doubts, obstacles } }: { preview: RefundPreview }) {
  const notes = [...obstacles.filter(({ reason }) => reason !== 'answered').map(({ detail }) => detail), ...doubts];
  if (notes.length === 0) return null;
  return (
    <ul>
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

function Ask({ preview, seller, reload }: { preview: RefundPreview; seller: SellerFacts; reload: () => void }) {
  const { payment, number, left, decimals, recipient, boughtAnswer, obstacles } = preview;
  const [text, setText] = useState('');
  const [reason, setReason] = useState('');
  const isPossible = recipient !== null && obstacles.every((obstacle) => obstacle.reason === 'answered');
  if (!isPossible) return null;
  const amount = readAmount(text, decimals, left);
  const refund = (): Promise<unknown> =>
    askOperator('POST /operator/refunds', {
      body: {
        payment,
        number,
        answered: boughtAnswer,
        amount: amount ?? undefined,
        reason: reason.trim() || undefined,
      },
    });
  return (
    <>
      <div class="search">
        <label>
          Amount, at most {formatTokenAmount(BigInt(left), decimals)}
          <input
            inputMode="decimal"
            value={text}
            placeholder="all that is left"
            aria-invalid={amount === null}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <label>
          Reason
          <input value={reason} maxLength={200} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
      </div>
      {amount === null ? (
        <p role="alert">The amount must be a number above 0, and at most what is left.</p>
      ) : (
        <WriteButton act="Refund this payment" scope={SCOPE} run={refund} onDone={reload}>
          <p>
            {showMoney(amount, assetOf(preview), seller)} goes to <code>{recipient.address}</code>, the payer that the
            chain shows. The payment buys nothing from then on. This is refund number {number} of the payment.
          </p>
          {boughtAnswer && (
            <p>
              <b>It bought an answer</b>, which its payer has, and which is then no longer sent again.
            </p>
          )}
        </WriteButton>
      )}
    </>
  );
}

/** Base units; null for a text that is no amount, or too much. Empty: all that is left. */
function readAmount(text: string, decimals: number, left: string): string | null {
  if (text.trim() === '') return left;
  try {
    const amount = parseTokenAmount(text.trim(), decimals);
    return amount > 0n && amount <= BigInt(left) ? String(amount) : null;
  } catch {
    return null;
  }
}

function Refunds({ preview, seller, reload }: { preview: RefundPreview; seller: SellerFacts; reload: () => void }) {
  return (
    <Table
      label="Refunds of this payment"
      rows={preview.refunds}
      keyOf={({ id }) => id}
      columns={[
        { name: 'Asked', show: ({ askedAt }) => <Time at={askedAt} /> },
        { name: 'State', show: ({ state }) => <State state={state} /> },
        { name: 'Amount', show: ({ amount }) => showMoney(amount, assetOf(preview), seller), isNumber: true },
        { name: 'Job', show: ({ job }) => (job === null ? 'none' : <a href={linkTo('jobs', job)}>its job</a>) },
        {
          name: 'Transaction',
          show: ({ transaction }) => <HexText text={transaction} explorer={explorerOf(seller, preview.chainId)} />,
        },
        { name: 'Note', show: (refund) => <Note refund={refund} reload={reload} /> },
      ]}
    />
  );
}

function Note({ refund: { id, state, detail, doubts }, reload }: { refund: Refund; reload: () => void }) {
  return (
    <>
      {[...(DOUBTED.includes(state) ? doubts : []), ...(detail === null ? [] : [detail])].map((note) => (
        <div key={note}>{note}</div>
      ))}
      {(state === 'failed' || state === 'given_up') && (
        <div class="buttons">
          {state === 'failed' && (
            <>
              <WriteButton
                act="Retry this refund"
                scope={SCOPE}
                run={() => askOperator('POST /operator/refunds/:id/retry', { id })}
                onDone={reload}
              >
                <p>It is sent again, with a new job.</p>
              </WriteButton>
              <WriteButton
                act="Give this refund up"
                scope={SCOPE}
                run={() => askOperator('POST /operator/refunds/:id/give-up', { id })}
                onDone={reload}
              >
                <p>Nothing is paid back by it, and the payment stays closed.</p>
              </WriteButton>
            </>
          )}
          <Paid id={id} reload={reload} />
        </div>
      )}
    </>
  );
}

/** For a refund that the chain shows as paid, and whose job the journal no longer has. */
function Paid({ id, reload }: { id: string; reload: () => void }) {
  const [transaction, setTransaction] = useState('');
  const record = (): Promise<unknown> =>
    askOperator('POST /operator/refunds/:id/paid', { id, body: { transaction: transaction.trim() } });
  return (
    <WriteButton act="Record this refund as paid" scope={SCOPE} run={record} onDone={reload}>
      <p>
        Nothing is sent. It is booked by a transaction that has paid it already, with the amount that the chain shows.
      </p>
      <label>
        Hash of the transaction
        <input
          value={transaction}
          placeholder="0x…"
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setTransaction(event.currentTarget.value)}
        />
      </label>
    </WriteButton>
  );
}
