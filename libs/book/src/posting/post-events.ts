import type { BookEvent, BookEventOf } from '@tollgate/book-events';

import type { NewBooking } from '../bookings/booking.js';
import { bookTransaction, gasCost } from '../bookings/describe-bookings.js';
import type { BookSeller } from '../bookings/describe-payment.js';
import { addReport } from '../bookings/payment-record.js';
import type { Queryable } from '../database/database.js';
import type { BookWriter } from './book-writer.js';
import { OpenPayments } from './open-payments.js';
import { storeAct } from './record-act.js';
import { replaceUnclaimed } from './replace-unclaimed.js';
import { storeBookings } from './store-bookings.js';
import { paymentsOf, storeEvents, type DeliveredEvent } from './take-events.js';

/** What one transaction added to the book. */
export interface Posted {
  /** Events that were not in the book. */
  events: number;
  /** How many of `events` this release cannot read. They are kept for a later one. */
  unread: number;
  /** Events that are not booked for good: they are damaged, the database refuses them, or the book does not believe them. They are kept, and are not in `events`. */
  refused: number;
  bookings: number;
}

/**
 * Writes a batch of events, the payments that they report about, and the bookings and the events for other programs that
 * follow, in one transaction.
 * Events that are in the book already change nothing.
 * @throws DeposedError, BookUnavailableError, and the error of a constraint (see `isRefusedForGood`); then nothing is written
 */
export function postEvents(
  writer: BookWriter,
  delivered: readonly DeliveredEvent[],
  seller: BookSeller,
): Promise<Posted> {
  return writer.write(async (within) => {
    const strange = await findStrangeRefunds(within, delivered);
    const whyRefused = (one: DeliveredEvent): string | null =>
      strange.has(one) ? NOT_ASKED_FOR : isDamaged(one) ? DAMAGED : null;
    const added = await storeEvents(within, delivered, whyRefused);
    const counted = added.filter((one) => whyRefused(one) === null);
    return { ...(await post(within, counted, seller)), refused: added.length - counted.length };
  });
}

const DAMAGED = 'Its fields are not those of an event of this version.';

function isDamaged({ event }: DeliveredEvent): boolean {
  return event.type === 'unknown' && event.why === 'fields';
}

async function post(within: Queryable, added: readonly DeliveredEvent[], seller: BookSeller): Promise<Posted> {
  const events = added.flatMap(({ event }) => (event.type === 'unknown' ? [] : [event]));
  const ids = [...new Set(events.flatMap(paymentsOf))];
  const payments = await OpenPayments.load(within, ids, seller);
  const sent = await storeTransactions(within, events.filter(isTransaction));
  const bookings: NewBooking[] = [];
  const add = (booking: NewBooking | null) => booking && bookings.push(booking);
  for (const event of events) {
    if (isTransaction(event) && sent.delete(nameTransaction(event))) add(bookTransaction(event));
    for (const id of paymentsOf(event)) add(payments.change(id, (payment) => addReport(payment, event)));
  }
  await payments.store(within);
  for (const act of events) if (act.type === 'acted') await storeAct(within, act);
  bookings.push(...(await replaceUnclaimed(within, ids, seller)));
  await storeBookings(within, bookings, Date.now());
  return { events: added.length, unread: added.length - events.length, refused: 0, bookings: bookings.length };
}

type OwnTransaction = BookEventOf<'settled'> | BookEventOf<'job_transaction'>;

function isTransaction(event: BookEvent): event is OwnTransaction {
  return event.type === 'settled' || event.type === 'job_transaction';
}

const nameTransaction = ({ facts }: OwnTransaction): string => `${facts.chainId} ${facts.transaction.toLowerCase()}`;

/** Records our transactions; returns the names of those that are new. */
async function storeTransactions(within: Queryable, events: readonly OwnTransaction[]): Promise<Set<string>> {
  if (events.length === 0) return new Set();
  const rows = events.map(({ type, atMs, facts }) => ({
    chain_id: facts.chainId,
    hash: facts.transaction.toLowerCase(),
    kind: type,
    nonce: facts.nonce,
    sender: ('relayer' in facts ? facts.relayer : facts.wallet).toLowerCase(),
    block_number: facts.blockNumber,
    gas_cost: gasCost(facts)?.toString() ?? null,
    value: 'value' in facts && facts.outcome === 'success' ? facts.value : '0',
    at: new Date(atMs),
  }));
  const stored = await within.query<{ chain_id: number; hash: string }>(
    `INSERT INTO transactions (chain_id, hash, sender, kind, nonce, block_number, gas_cost, value, at)
      SELECT chain_id, hash, sender, kind, nonce, block_number, gas_cost, value, at
        FROM jsonb_to_recordset($1::jsonb) AS t(chain_id bigint, hash text, sender text, kind text, nonce bigint,
          block_number bigint, gas_cost numeric, value numeric, at timestamptz)
      ON CONFLICT DO NOTHING RETURNING chain_id, hash`,
    [JSON.stringify(rows)],
  );
  return new Set(stored.map(({ chain_id: chainId, hash }) => `${chainId} ${hash}`));
}

const NOT_ASKED_FOR = 'The book has no refund of this payment that this transaction paid.';

/**
 * The events of refunds that the book has not asked for, or not as they say: everybody who writes to Redis can report one. The
 * book notes the transaction of a refund before it reports it, so the events of its own refunds always agree.
 */
async function findStrangeRefunds(
  within: Queryable,
  delivered: readonly DeliveredEvent[],
): Promise<ReadonlySet<DeliveredEvent>> {
  const reported = delivered.flatMap(({ event }, at) => {
    if (event.type !== 'refunded') return [];
    const { refund: id, transaction, recipient, amount } = event.facts;
    return [{ at, id, payment: event.payment, transaction, recipient, amount }];
  });
  if (reported.length === 0) return new Set();
  const known = await within.query<{ at: number }>(
    `SELECT at FROM jsonb_to_recordset($1::jsonb)
        AS told(at integer, id text, payment text, transaction text, recipient text, amount text)
      JOIN refunds USING (id, payment) WHERE refunds.amount::text = told.amount
        AND lower(refunds.transaction) = lower(told.transaction) AND lower(refunds.recipient) = lower(told.recipient)`,
    [JSON.stringify(reported)],
  );
  const isKnown = new Set(known.map(({ at }) => at));
  return new Set(reported.flatMap(({ at }) => (isKnown.has(at) ? [] : (delivered[at] ?? []))));
}
