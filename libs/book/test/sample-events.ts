import {
  BOOK_EVENT_VERSION,
  bucketEventsKey,
  parseBookEvent,
  type AnsweredFacts,
  type BookEvent,
  type SaleFacts,
  type SettledFacts,
} from '@tollgate/book-events';
import type { Hex } from '@tollgate/protocol';

import type { NewBooking } from '../src/bookings/booking.js';
import type { DeliveredEvent } from '../src/posting/take-events.js';

export const ASSET: Hex = `0x${'a5'.repeat(20)}`;
export const PAY_TO: Hex = `0x${'b0'.repeat(20)}`;
export const PAYER: Hex = `0x${'c1'.repeat(20)}`;
export const RELAYER: Hex = `0x${'d2'.repeat(20)}`;
const CHAIN_ID = 1328;
export const SELLER = [{ chainId: CHAIN_ID, asset: ASSET, recipient: PAY_TO }];
const START_MS = Date.UTC(2026, 10, 25, 10);

export const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;
export const transferId = (number: number): string => `tx:${CHAIN_ID}:${hashOf(number)}:0`;
export const authorizationId = (number: number): string => `auth:${CHAIN_ID}:${ASSET}:${PAYER}:${hashOf(number)}:auth`;

function sampleSale(more: Partial<SaleFacts> = {}): SaleFacts {
  return {
    requestId: 'request-1',
    route: '/api/weather',
    path: '/api/weather',
    method: 'GET',
    scheme: 'tx-hash',
    network: 'eip155:1328',
    chainId: CHAIN_ID,
    asset: ASSET,
    payTo: PAY_TO,
    payer: PAYER,
    amount: '10000',
    price: '10000',
    transaction: hashOf(1),
    logIndex: 0,
    ...more,
  };
}

export function answered(payment: string, more: Partial<AnsweredFacts> = {}): BookEvent {
  const timeline = {
    verifiedAtMs: START_MS + 1,
    claimedAtMs: START_MS + 2,
    fulfilledAtMs: START_MS + 3,
    settledAtMs: null,
  };
  const facts: AnsweredFacts = {
    ...sampleSale(),
    requestHash: 'r'.repeat(22),
    answerHash: 'ab'.repeat(32),
    status: 200,
    bytes: 120,
    upstreamMs: 12,
    timeline: { presentedAtMs: START_MS, ...timeline },
    ...more,
  };
  return { type: 'answered', atMs: START_MS + 10, payment, facts };
}

export function released(payment: string, more: Partial<SaleFacts> = {}): BookEvent {
  const facts = { reason: 'failed', sale: sampleSale(more), timeline: null };
  return { type: 'released', atMs: START_MS + 5, payment, facts };
}

export function refused(payment: string, { count = 1, amount = '10000', failure = 'payment_too_old' } = {}): BookEvent {
  const where = { transaction: hashOf(1), logIndex: 0, minedAtMs: START_MS, detail: null };
  const facts = { failure, payer: PAYER, asset: ASSET, payTo: PAY_TO, amount, ...where, count };
  return { type: 'refused', atMs: START_MS + count, payment, facts };
}

export function refunding(payment: string): BookEvent {
  return {
    type: 'refunding',
    atMs: START_MS + 20,
    payment,
    facts: { from: 'free', refund: 'refund-1', reason: 'late' },
  };
}

export function refunded(payment: string, amount: string, transaction = hashOf(900)): BookEvent {
  const facts = { refund: `refund-1 of ${payment}`, transaction, amount, recipient: PAYER };
  return { type: 'refunded', atMs: START_MS + 30, payment, facts };
}

/** One transaction of the relayer that settled these payments, 10000 base units each. */
export function settled(payments: readonly string[], more: Partial<SettledFacts> = {}): BookEvent {
  const moved = { asset: ASSET, payTo: PAY_TO, payer: PAYER, amount: '10000', logIndex: 0 };
  const facts: SettledFacts = {
    chainId: CHAIN_ID,
    transaction: hashOf(500),
    nonce: 7,
    outcome: 'success',
    gasUsed: '60000',
    effectiveGasPrice: '2000000000',
    blockNumber: 12,
    blockHash: hashOf(12),
    jobId: 'j-1',
    operation: 'settle',
    relayer: RELAYER,
    payments: payments.map((payment) => ({ payment, ...moved })),
    ...more,
  };
  return { type: 'settled', atMs: START_MS + 8, payment: '', facts };
}

let delivered = 0;

/** The event as the outbox delivers it; without an id, under one of its own. */
export function deliver(event: BookEvent, id = `${START_MS}-${++delivered}`): DeliveredEvent {
  const { type, atMs, payment, facts } = event;
  const named = { v: String(BOOK_EVENT_VERSION), type, at: String(atMs), payment, facts: JSON.stringify(facts) };
  const fields = Object.entries(named).flat();
  return { stream: bucketEventsKey(0), id, fields, event: parseBookEvent(fields) };
}

/** Bookings of two entries each, of no payment. */
export function sampleBookings(count: number): NewBooking[] {
  const line = { asset: '1328:x', amount: '1' };
  const lines = [
    { ...line, account: 'refunds' },
    { ...line, account: 'owed:refused', amount: '-1' },
  ];
  return Array.from({ length: count }, () => ({ kind: 'payment', payment: null, atMs: 0, facts: {}, lines }));
}
