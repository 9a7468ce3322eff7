import { randomBytes } from 'node:crypto';

import type { BookEvent, BookFacts } from '@tollgate/book-events';

/** A payment's event as the book keeps it, with its time. */
export type ReportedEvent<Type extends keyof BookFacts> = BookFacts[Type] & { readonly atMs: number };

/** A transfer that the chain shows, found by reconciling. */
export interface ReportedTransfer {
  readonly atMs: number;
  readonly transaction: string;
  readonly asset: string;
  readonly payTo: string;
  readonly forOther?: true;
  readonly payer: string;
  readonly amount: string;
}

/** A settlement that moved this payment. */
export interface ReportedSettlement extends ReportedTransfer {
  readonly relayer: string;
  readonly gasUsed: string;
  readonly effectiveGasPrice: string | null;
  readonly payments: number;
}

/** Transactions of a payment that the chain had and no longer has. */
export interface RemovedTransactions {
  readonly atMs: number;
  readonly transactions: readonly string[];
}

/** Another payment that the transfer of this one belongs to. */
export interface OtherPayment {
  readonly atMs: number;
  readonly payment: string;
}

/** What is removed after some months, when the book keeps the amounts alone. */
type OfRequest = 'requestId' | 'requestHash' | 'path' | 'query' | 'method' | 'bytes' | 'upstreamMs' | 'timeline';
type Kept<Facts> = Omit<Facts, OfRequest> & Partial<Pick<Facts, OfRequest & keyof Facts>>;

/** What the events reported of one payment, by type; `transfer`, `removed` and `bookedAs` are found by reconciling. */
export interface PaymentReports {
  answered?: Kept<ReportedEvent<'answered'>>;
  settled?: ReportedSettlement;
  transfer?: ReportedTransfer;
  removed?: RemovedTransactions;
  bookedAs?: OtherPayment;
  released?: ReportedEvent<'released'>;
  refused?: ReportedEvent<'refused'>;
  refunding?: ReportedEvent<'refunding'>;
  refunded?: readonly ReportedEvent<'refunded'>[];
}

/** A payment in the book. */
export interface BookedPayment {
  readonly id: string;
  readonly reports: PaymentReports;
  /** Makes the request's hash in the bookings unguessable; empty once the request's data was removed. */
  readonly requestSalt: string;
}

export function createPayment(id: string): BookedPayment {
  return { id, reports: {}, requestSalt: createSalt() };
}

export function createSalt(): string {
  return randomBytes(16).toString('hex');
}

/** Adds a transfer that the chain shows. */
export function addTransfer(payment: BookedPayment, transfer: ReportedTransfer): BookedPayment {
  const { removed } = payment.reports;
  const isBack = removed?.transactions.includes(transfer.transaction) === true;
  const left = removed?.transactions.filter((transaction) => transaction !== transfer.transaction) ?? [];
  const back = isBack && { removed: { ...removed, transactions: left } };
  return { ...payment, reports: { ...payment.reports, transfer, ...back } };
}

/** Notes that the chain no longer has a transaction. */
export function removeTransaction(payment: BookedPayment, transaction: string, atMs: number): BookedPayment {
  const known = payment.reports.removed?.transactions ?? [];
  const transactions = [...known.filter((other) => other !== transaction), transaction];
  return { ...payment, reports: { ...payment.reports, removed: { atMs, transactions } } };
}

/** Notes that the transfer of this payment belongs to another one. */
export function bookAs(payment: BookedPayment, other: string, atMs: number): BookedPayment {
  return { ...payment, reports: { ...payment.reports, bookedAs: { atMs, payment: other } } };
}

/** Adds an event of one payment. The result does not depend on the order of the events, or on how often one comes. */
export function addReport({ id, reports, requestSalt }: BookedPayment, event: BookEvent): BookedPayment {
  return { id, requestSalt, reports: { ...reports, ...report(reports, event, id) } };
}

function report(reports: PaymentReports, event: BookEvent, id: string): PaymentReports {
  const { atMs } = event;
  switch (event.type) {
    case 'answered':
      // A payment is answered once; what is reported again, after Redis was restored from a copy, adds nothing.
      return { answered: reports.answered ?? { ...event.facts, atMs } };
    case 'released':
      return { released: latest(reports.released, { ...event.facts, atMs }) };
    case 'refused':
      return { refused: mostCounted(reports.refused, { ...event.facts, atMs }) };
    case 'refunding':
      return { refunding: reports.refunding ?? { ...event.facts, atMs } };
    case 'refunded': {
      const known = reports.refunded ?? [];
      const isKnown = known.some(({ transaction }) => transaction === event.facts.transaction);
      return isKnown ? {} : { refunded: [...known, { ...event.facts, atMs }] };
    }
    case 'settled': {
      const { transaction, relayer, gasUsed, effectiveGasPrice, payments } = event.facts;
      const moved = payments.find(({ payment }) => payment === id);
      if (moved === undefined || moved.amount === null) return {};
      const { asset, payTo, payer, amount, forOther } = moved;
      const gas = { relayer, gasUsed, effectiveGasPrice, payments: payments.length };
      // A reorganisation can move it to another transaction: the one that was reported last is in the chain.
      const seller = { payTo, ...(forOther && { forOther }) };
      return { settled: latest(reports.settled, { atMs, transaction, asset, ...seller, payer, amount, ...gas }) };
    }
    case 'job_transaction':
    case 'acted':
      return {};
  }
}

function latest<T extends { atMs: number; transaction?: string | null }>(known: T | undefined, added: T): T {
  if (known === undefined || added.atMs > known.atMs) return added;
  if (added.atMs < known.atMs) return known;
  // Any order will do, if only it is always the same.
  return (added.transaction ?? '') > (known.transaction ?? '') ? added : known;
}

/** Repeats of one failure have a growing count; another failure is later. */
function mostCounted(
  known: ReportedEvent<'refused'> | undefined,
  added: ReportedEvent<'refused'>,
): ReportedEvent<'refused'> {
  if (known === undefined) return added;
  if (known.failure === added.failure) return added.count > known.count ? added : known;
  return latest(known, added);
}
