import { assetName } from '../bookings/accounts.js';
import type { NewBooking } from '../bookings/booking.js';
import type { BookSeller } from '../bookings/describe-payment.js';
import { addTransfer, removeTransaction, type BookedPayment } from '../bookings/payment-record.js';
import type { Queryable } from '../database/database.js';
import { isDust, nameDust, sumDust } from '../posting/dust.js';
import { OpenPayments } from '../posting/open-payments.js';
import { listRecipients, type ChainScope } from './chain-scope.js';
import type { Difference } from './differences.js';
import { readExpected, storeTransfers, type ExpectedPayment, type ShownTransfer } from './store-transfers.js';

/** A transfer with the name under which the ledger knows it if it is presented. */
export interface NamedTransfer extends ShownTransfer {
  readonly payment: string;
}

/** What the chain says of a transaction; null: no block has it. */
export type MoneyAnswer = {
  readonly blockNumber: number;
  readonly atMs: number;
  /** All transfers of the asset to the recipient; none in a transaction that reverted. */
  readonly transfers: readonly NamedTransfer[];
} | null;

/** What was booked, and what needs a person. */
export interface ReconciledMoney {
  bookings: NewBooking[];
  differences: Difference[];
}

interface Terms {
  scope: ChainScope;
  seller: BookSeller;
  /** Earlier transfers are not unclaimed: their events may be lost. */
  completeFromMs: number;
  /** Unclaimed transfers of less, in base units, are summed. */
  least: bigint;
}

/**
 * Books what a transaction shows: an amount that was reported otherwise, a payment whose transfer the chain no longer
 * has, and money that no request has presented. What the seller moves between its accounts is no such money.
 */
export async function reconcileMoney(
  within: Queryable,
  transaction: string,
  answer: MoneyAnswer,
  { scope, seller, completeFromMs, least }: Terms,
): Promise<ReconciledMoney> {
  const shown = answer?.transfers ?? [];
  await storeTransfers(within, scope, shown);
  const expected = await readExpected(within, scope, [transaction]);
  const open = await readOpen(within, scope, transaction, shown);
  const nameUnclaimed = (one: NamedTransfer) => (BigInt(one.amount) < least ? nameDust(scope, one) : one.payment);
  const ids = [...expected.map(({ id }) => id), ...open.map(nameUnclaimed)];
  const payments = await OpenPayments.load(within, ids, seller);
  const reconciled: ReconciledMoney = { bookings: [], differences: [] };
  const asset = assetName(scope.chainId, scope.asset);
  const note = (one: Omit<Difference, 'transaction' | 'asset'>) =>
    reconciled.differences.push({ ...one, transaction, asset });
  const book = (id: string, change: (payment: BookedPayment) => BookedPayment) => {
    const booking = payments.change(id, change);
    if (booking !== null) reconciled.bookings.push(booking);
  };
  const recipients = listRecipients(seller, scope);
  const links: Link[] = [];
  const ofDust: Link[] = [];
  const dust = new Map(expected.flatMap(({ id }) => (isDust(id) ? [[id, payments.find(id)?.reports.transfer]] : [])));

  for (const { id, payer, amount, since } of expected) {
    if (dust.has(id)) continue;
    const isPaidBack = hasRefund(payments.find(id));
    const own = takeFor(open, { id, payer, amount, isAlone: expected.length === 1 && open.length === 1 });
    const differ = own === undefined ? 0n : BigInt(amount) - BigInt(own.amount);
    if (own !== undefined && (!isPaidBack || differ === 0n)) {
      // What is paid back is not corrected. Where no money differs, as when the event names another payer, nothing is to decide.
      if (!isPaidBack) book(id, (payment) => addTransfer(payment, toReport(own, scope)));
      links.push({ transfer: own, id });
    } else if (own !== undefined) {
      note({ list: 'different', subject: id, amount: absolute(differ), atMs: since.getTime(), reason: 'paid_back' });
    } else if (shown.length > 0) {
      note({ list: 'book_only', subject: id, amount, atMs: since.getTime(), reason: 'no_transfer_left' });
    } else if (isPaidBack) {
      note({ list: 'book_only', subject: id, amount, atMs: since.getTime(), reason: 'paid_back' });
    } else {
      book(id, (payment) => removeTransaction(payment, transaction, Date.now()));
    }
  }
  const isMoved = ({ payer }: NamedTransfer) => recipients.includes(payer);
  await forgetTransfers(within, scope, open.filter(isMoved));
  for (const transfer of open.filter((one) => !isMoved(one))) {
    const id = nameUnclaimed(transfer);
    const atMs = transfer.atMs ?? answer?.atMs ?? 0;
    if (atMs < completeFromMs) {
      await dateTransfer(within, scope, transfer, atMs);
    } else if (isDust(id)) {
      dust.set(id, toReport(transfer, scope));
      ofDust.push({ transfer, id });
    } else {
      book(id, (payment) => addTransfer(payment, toReport(transfer, scope)));
      links.push({ transfer, id });
    }
  }
  await linkTransfers(within, scope, ofDust);
  for (const [id, report] of dust) {
    const amount = await sumDust(within, id);
    if (report !== undefined) book(id, (payment) => addTransfer(payment, { ...report, amount }));
  }
  await payments.store(within);
  await linkTransfers(within, scope, links);
  await within.query('DELETE FROM unreconciled_payments WHERE id = ANY($1::text[])', [[...dust.keys()]]);
  return reconciled;
}

function hasRefund(payment: BookedPayment | undefined): boolean {
  return payment?.reports.refunding !== undefined || payment?.reports.refunded !== undefined;
}

/** Takes the transfer that is the payment's: of its name, else of its payer, else the only one. */
function takeFor(
  open: NamedTransfer[],
  { id, payer, amount, isAlone }: Pick<ExpectedPayment, 'id' | 'payer' | 'amount'> & { isAlone: boolean },
): NamedTransfer | undefined {
  const found =
    open.find((transfer) => transfer.payment === id) ??
    open.find((transfer) => transfer.payer === payer && transfer.amount === amount) ??
    open.find((transfer) => transfer.payer === payer) ??
    (payer === '' || isAlone ? open[0] : undefined);
  if (found !== undefined) open.splice(open.indexOf(found), 1);
  return found;
}

function toReport({ transaction, payer, amount, atMs }: NamedTransfer, { asset, recipient }: ChainScope) {
  return { atMs: atMs ?? 0, transaction, asset, payTo: recipient, payer, amount };
}

function absolute(amount: bigint): string {
  return String(amount < 0n ? -amount : amount);
}

/** The transfers that no payment is booked for. */
async function readOpen(
  within: Queryable,
  { chainId }: ChainScope,
  transaction: string,
  shown: readonly NamedTransfer[],
): Promise<NamedTransfer[]> {
  const rows = await within.query<{ log_index: number }>(
    'SELECT log_index FROM chain_transfers WHERE chain_id = $1 AND transaction = $2 AND payment IS NULL',
    [chainId, transaction],
  );
  const isOpen = new Set(rows.map(({ log_index: logIndex }) => logIndex));
  return shown.filter(({ logIndex }) => isOpen.has(logIndex));
}

/** Should the event of a payment name one later, the chain is asked again, and shows it again. */
async function forgetTransfers(
  within: Queryable,
  { chainId }: ChainScope,
  transfers: readonly NamedTransfer[],
): Promise<void> {
  for (const { transaction, logIndex } of transfers) {
    await within.query('DELETE FROM chain_transfers WHERE chain_id = $1 AND transaction = $2 AND log_index = $3', [
      chainId,
      transaction,
      logIndex,
    ]);
  }
}

/** A transfer from before the book was complete is listed by its time, and not asked about again. */
async function dateTransfer(
  within: Queryable,
  { chainId }: ChainScope,
  { transaction, logIndex }: NamedTransfer,
  atMs: number,
): Promise<void> {
  await within.query(
    'UPDATE chain_transfers SET at = $4 WHERE chain_id = $1 AND transaction = $2 AND log_index = $3 AND at IS NULL',
    [chainId, transaction, logIndex, new Date(atMs).toISOString()],
  );
}

interface Link {
  readonly transfer: NamedTransfer;
  readonly id: string;
}

/** Notes which payment each transfer is booked as. */
async function linkTransfers(within: Queryable, { chainId }: ChainScope, links: readonly Link[]): Promise<void> {
  if (links.length === 0) return;
  const rows = links.map(({ transfer: { transaction, logIndex: log }, id }) => ({ transaction, log, payment: id }));
  await within.query(
    `UPDATE chain_transfers SET payment = link.payment
      FROM jsonb_to_recordset($1::jsonb) AS link(transaction text, log bigint, payment text)
      WHERE chain_id = $2 AND chain_transfers.transaction = link.transaction AND log_index = link.log`,
    [JSON.stringify(rows), chainId],
  );
  const ids = [...new Set(links.map(({ id }) => id))];
  await within.query('DELETE FROM unreconciled_payments WHERE id = ANY($1::text[])', [ids]);
}
