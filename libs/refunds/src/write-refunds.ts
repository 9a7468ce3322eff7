import type { ArrivalPlace, HeldTransfer, RefundBook, RefundPorts, RefundRows, RefundSettings } from './ports.js';
import {
  ENDED_STATES,
  findSentDoubts,
  nextNumber,
  RELEASED_STATES,
  sumOfRefunds,
  type ArrivedTransfer,
  type Refund,
  type RefundState,
  type RefundTerms,
  type TakenPart,
} from './refund.js';
import { assertTerms, exceeds, findLargeDoubt, notFailed, overCap, refuse, tooMuch } from './refusals.js';

// What is written of refunds, each function in one transaction of the book, of which a refusal leaves nothing.

type WritePorts = Pick<RefundPorts, 'book' | 'settings'>;

/**
 * Writes a refund, with the check that all refunds of the payment are at most what arrived, and within the caps, and with
 * what it takes of each transfer, since another payment's name may stand for the same transfer. A repeated call with the
 * same terms returns the same refund, whatever became of it; one that was refused is asked for anew.
 */
export function askForRefund(
  { book, settings }: WritePorts,
  { transfers, ...terms }: RefundTerms & { readonly transfers: readonly ArrivedTransfer[] },
  keyId: string,
): Promise<Refund> {
  return book.write(async (rows) => {
    const amount = BigInt(terms.amount);
    const refunds = await rows.listOf(terms.payment);
    const known = refunds.find(({ number }) => number === terms.number);
    if (known !== undefined && known.state !== 'refused') return assertTerms(known, terms);
    const next = nextNumber(refunds);
    if (terms.number !== next) {
      throw refuse('number', `The next refund of this payment has the number ${next}.`, { next });
    }
    const { left, taken } = await readLeft(rows, terms.payment, refunds);
    if (amount > left) throw exceeds(left, settings);
    await assertWithinCaps(rows, terms, keyId, settings);
    const shown = await rows.noteTransfers(terms, transfers);
    const takes = share(shown, amount);
    if (takes === null)
      throw exceeds(
        shown.reduce((sum, one) => sum + freeOf(one), 0n),
        settings,
      );
    await rows.addTaken(terms, takes);
    // Here, because another refund of the payment may have been asked for since the terms were made.
    const large = findLargeDoubt(taken + amount, settings);
    const doubts = unite(terms.doubts, findSentDoubts(refunds), large);
    return rows.insert({ ...terms, doubts }, keyId, takes);
  });
}

/** Lets a refund that has failed be sent again, as its next attempt, within the caps of today. */
export function retryRefund({ book, settings }: WritePorts, refund: Refund, keyId: string): Promise<Refund> {
  const { id, attempt } = refund;
  return book.write(async (rows) => {
    const now = await rows.read(id);
    if (now?.state !== 'failed' || now.attempt !== attempt) throw notFailed(refund, now ?? refund, 'retried');
    await assertWithinCaps(rows, now, keyId, settings);
    const doubts = unite(now.doubts, findSentDoubts([now]));
    const next = { attempt: attempt + 1, askedBy: [...now.askedBy, keyId], doubts };
    return rows.update(id, { ...next, state: 'closed', job: null, transaction: null, detail: null });
  });
}

/** Changes a refund, if it is in one of these states still, and at the same attempt. Null: it is not. */
export function changeRefund(
  book: RefundBook,
  { id, attempt }: Refund,
  from: readonly RefundState[],
  change: Partial<Pick<Refund, 'state' | 'job' | 'transaction' | 'detail' | 'maybeSent' | 'doubts'>>,
): Promise<Refund | null> {
  return book.write(async (rows) => {
    const now = await rows.read(id);
    if (now?.attempt !== attempt || !from.includes(now.state)) return null;
    const changed = await rows.update(id, change);
    if (RELEASED_STATES.includes(changed.state)) await retake(rows, changed, 0n);
    // One that was given up has been paid all the same. Where another has what it would take, both are paid: that stays.
    else if (RELEASED_STATES.includes(now.state)) await retake(rows, changed, BigInt(changed.amount));
    return changed;
  });
}

/**
 * Names the transaction that paid a refund whose job is no longer stored: it is reported and booked next, with what the
 * transaction paid.
 */
export function nameTransaction(
  { book, settings }: WritePorts,
  refund: Refund,
  { transaction, amount }: { transaction: string; amount: bigint },
): Promise<Refund> {
  const { id, attempt, payment } = refund;
  return book.write(async (rows) => {
    const by = await rows.findPaidBy(transaction, id);
    if (by !== null) throw refuse('transaction', `It is booked already, for ${by}.`);
    const refunds = await rows.listOf(payment);
    const own = refunds.find((one) => one.id === id);
    if (own?.attempt !== attempt || !ENDED_STATES.includes(own.state))
      throw notFailed(refund, own ?? refund, 'booked so');
    const others = refunds.filter((one) => one !== own);
    // The database would refuse the event of what is paid back beyond what arrived, and the refund would not be booked.
    const { left } = await readLeft(rows, payment, others, true);
    if (amount > left || !(await retake(rows, own, amount))) throw tooMuch(amount, settings);
    const paid = String(amount);
    const askedAmount = own.askedAmount ?? (own.amount === paid ? null : own.amount);
    return rows.update(id, { state: 'sending', transaction, amount: paid, askedAmount, detail: null });
  });
}

/**
 * Notes the transaction of a refund's job before it is reported, so that it cannot be another refund's from then on. Null:
 * the refund is no longer sending; `takenBy`: another refund that has it, or the payment of one that the book has lost.
 */
export function takeTransaction(
  book: RefundBook,
  { id, attempt }: Refund,
  transaction: string,
): Promise<Refund | { takenBy: string } | null> {
  return book.write(async (rows) => {
    const takenBy = await rows.findPaidBy(transaction, id);
    if (takenBy !== null) return { takenBy };
    const now = await rows.read(id);
    return now?.attempt === attempt && now.state === 'sending' ? rows.update(id, { transaction }) : null;
  });
}

/** What has arrived and no refund has taken. A withdrawn payment has nothing, unless it `isPaid` all the same. */
async function readLeft(rows: RefundRows, payment: string, refunds: readonly Refund[], isPaid = false) {
  const found = await rows.findPayment(payment);
  const arrived = found?.state === 'withdrawn' && !isPaid ? 0n : BigInt(found?.amount ?? '0');
  const taken = sumOfRefunds(refunds, BigInt(found?.refunded ?? '0'));
  return { left: arrived - taken, taken };
}

/** A refund counts on the day of its last attempt, and for the API key that asked for that. */
async function assertWithinCaps(
  rows: RefundRows,
  terms: RefundTerms,
  keyId: string,
  settings: RefundSettings,
): Promise<void> {
  const taken = { each: 0n, ...(await rows.readToday(terms, keyId, terms.id)) };
  for (const cap of ['each', 'perPayerAndDay', 'perKeyAndDay', 'perDay'] as const) {
    const most = settings.caps[cap];
    if (most !== null && BigInt(terms.amount) > most - taken[cap]) throw overCap(cap, most - taken[cap], settings);
  }
}

/**
 * Makes a refund take another amount of its transfers than it does: none when it has ended without paying, another one when
 * a transaction that a person has named paid another. False: other refunds leave less, and nothing is changed.
 */
async function retake(
  rows: RefundRows,
  refund: ArrivalPlace & { readonly id: string },
  amount: bigint,
): Promise<boolean> {
  const own = new Map((await rows.readTakes(refund.id)).map(({ log, taken }) => [log, BigInt(taken)]));
  const takenOf = (log: number): bigint => own.get(log) ?? 0n;
  const held = await rows.readTransfers(refund, [...own.keys()]);
  const free = held.map((one) => ({ ...one, taken: String(BigInt(one.taken) - takenOf(one.log)) }));
  const takes = share(free, amount);
  if (takes === null) return false;
  const changes = takes.map(({ log, taken }) => ({ log, taken: String(BigInt(taken) - takenOf(log)) }));
  await rows.addTaken(refund, changes);
  await rows.update(refund.id, { takes });
  return true;
}

/** The first transfers give as much as they have; among the parts are those of 0. Null: all together have less. */
function share(transfers: readonly HeldTransfer[], amount: bigint): readonly TakenPart[] | null {
  let missing = amount;
  const inOrder = transfers.toSorted((one, other) => one.log - other.log);
  const parts = inOrder.map((one): TakenPart => {
    const taken = missing < freeOf(one) ? missing : freeOf(one);
    missing -= taken;
    return { log: one.log, taken: String(taken) };
  });
  return missing === 0n ? parts : null;
}

const freeOf = ({ arrived, taken }: HeldTransfer): bigint => atLeastNothing(BigInt(arrived) - BigInt(taken));
const atLeastNothing = (units: bigint): bigint => (units > 0n ? units : 0n);
const unite = (...texts: (readonly string[])[]): string[] => [...new Set(texts.flat())];
