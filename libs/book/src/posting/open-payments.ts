import type { NewBooking } from '../bookings/booking.js';
import { bookPayment } from '../bookings/describe-bookings.js';
import { describePayment, type BookedFacts, type BookSeller } from '../bookings/describe-payment.js';
import { createPayment, createSalt, type BookedPayment, type PaymentReports } from '../bookings/payment-record.js';
import type { Queryable } from '../database/database.js';
import { describeOutgoingEvents, storeOutgoingEvents, type OutgoingEvent } from '../events/outgoing-event.js';
import { isDust } from './dust.js';

/** Payments that one transaction of the database changes. */
export class OpenPayments {
  readonly #changed = new Map<string, BookedPayment>();
  readonly #events: OutgoingEvent[] = [];

  private constructor(
    private readonly before: ReadonlyMap<string, BookedPayment>,
    private readonly seller: BookSeller,
  ) {}

  static async load(within: Queryable, ids: readonly string[], seller: BookSeller): Promise<OpenPayments> {
    return new OpenPayments(await loadPayments(within, [...new Set(ids)]), seller);
  }

  /** As it is now; undefined for one that was not loaded. */
  find(id: string): BookedPayment | undefined {
    return this.#changed.get(id) ?? this.before.get(id);
  }

  /** Returns what has to be booked. */
  change(id: string, change: (payment: BookedPayment) => BookedPayment): NewBooking | null {
    const before = this.find(id);
    if (before === undefined) return null;
    const after = change(before);
    this.#changed.set(id, after);
    this.#events.push(...describeOutgoingEvents(before, after, this.seller));
    return bookPayment(before, after, this.seller);
  }

  /** Writes what was changed, which transfers the chain has to show for it, and the events for others. */
  async store(within: Queryable): Promise<void> {
    const changed = [...this.#changed.values()];
    if (changed.length === 0) return;
    await storePayments(within, changed, this.seller);
    await expectTransfers(
      within,
      changed.flatMap((after): ExpectedTransfer[] => {
        const before = this.before.get(after.id);
        const facts = describePayment(after, this.seller);
        return before ? [{ id: after.id, before: describePayment(before, this.seller), facts }] : [];
      }),
      this.seller,
    );
    await storeOutgoingEvents(within, this.#events);
  }
}

/** A payment that was changed: what the chain had to show for it, and has to show now. */
export interface ExpectedTransfer {
  readonly id: string;
  readonly before: BookedFacts;
  readonly facts: BookedFacts;
}

/** Notes for which payments the chain has to show another transfer than before. */
async function expectTransfers(
  within: Queryable,
  changed: readonly ExpectedTransfer[],
  seller: BookSeller,
): Promise<void> {
  const moved = changed.filter(
    ({ id, before, facts }) => nameTransfer(id, before, seller) !== nameTransfer(id, facts, seller),
  );
  if (moved.length === 0) return;
  const rows = moved.flatMap(({ id, facts }) =>
    nameTransfer(id, facts, seller) === null
      ? []
      : [{ id, ...facts, payer: facts.payer ?? '', chain_id: facts.chainId }],
  );
  const known = moved.filter(({ id, before }) => nameTransfer(id, before, seller) !== null);
  if (known.length > 0) {
    const ids = known.map(({ id }) => id);
    await within.query('DELETE FROM unreconciled_payments WHERE id = ANY($1::text[])', [ids]);
    await within.query(
      'UPDATE chain_transfers SET payment = NULL WHERE payment = ANY($1::text[]) AND transaction = ANY($2::text[])',
      [ids, known.flatMap(({ before }) => before.transaction ?? [])],
    );
  }
  if (rows.length === 0) return;
  await within.query(
    `INSERT INTO unreconciled_payments (id, chain_id, transaction, asset, payer, recipient, amount)
      SELECT id, chain_id, transaction, asset, payer, recipient, amount FROM jsonb_to_recordset($1::jsonb) AS p(
        id text, chain_id bigint, transaction text, asset text, payer text, recipient text, amount numeric)`,
    [JSON.stringify(rows)],
  );
}

/** Null: the chain has nothing to show, it went to another server's recipient, or it is dust, which the chain's transfers make. */
function nameTransfer(id: string, facts: BookedFacts, seller: BookSeller): string | null {
  if (isDust(id)) return null;
  const { state, chainId, transaction, asset, payer, recipient, amount } = facts;
  const isAccepted = seller.some(
    (one) => one.chainId === chainId && one.asset === asset && one.recipient === recipient,
  );
  if (state === 'withdrawn' || chainId === null || transaction === null || amount === null || amount === '0')
    return null;
  return isAccepted ? [chainId, transaction, asset, payer, recipient, amount].join(' ') : null;
}

const COLUMNS = {
  id: 'text',
  state: 'text',
  at: 'timestamptz',
  scheme: 'text',
  network: 'text',
  chain_id: 'bigint',
  asset: 'text',
  payer: 'text',
  recipient: 'text',
  route: 'text',
  request_id: 'text',
  transaction: 'text',
  path: 'text',
  query: 'text',
  for_other: 'boolean',
  reason: 'text',
  amount: 'numeric',
  refunded: 'numeric',
  reported: 'jsonb',
  request_salt: 'text',
};
const NAMES = Object.keys(COLUMNS);
const UPSERT = `INSERT INTO payments (${NAMES.join(', ')})
  SELECT ${NAMES.join(', ')} FROM jsonb_to_recordset($1::jsonb)
    AS p(${Object.entries(COLUMNS)
      .map(([name, type]) => `${name} ${type}`)
      .join(', ')})
  ON CONFLICT (id) DO UPDATE SET ${NAMES.map((name) => `${name} = excluded.${name}`).join(', ')}`;

/** The payments with these ids, by id; one that the book does not know is new. */
async function loadPayments(within: Queryable, ids: readonly string[]): Promise<Map<string, BookedPayment>> {
  const rows = await within.query<{ id: string; reported: PaymentReports; request_salt: string }>(
    'SELECT id, reported, request_salt FROM payments WHERE id = ANY($1::text[])',
    [ids],
  );
  const known = rows.map(({ id, reported, request_salt: requestSalt }): [string, BookedPayment] => [
    id,
    // A request that follows the removal of an earlier one has a salt of its own.
    { id, reports: reported, requestSalt: requestSalt === '' ? createSalt() : requestSalt },
  ]);
  return new Map([...ids.map((id): [string, BookedPayment] => [id, createPayment(id)]), ...known]);
}

async function storePayments(within: Queryable, payments: readonly BookedPayment[], seller: BookSeller): Promise<void> {
  const rows = payments.map((payment) => {
    const { atMs, chainId, requestId, forOther, ...facts } = describePayment(payment, seller);
    return {
      ...facts,
      id: payment.id,
      at: new Date(atMs),
      chain_id: chainId,
      request_id: requestId,
      for_other: forOther,
      reported: payment.reports,
      request_salt: payment.requestSalt,
    };
  });
  await within.query(UPSERT, [JSON.stringify(rows)]);
}
