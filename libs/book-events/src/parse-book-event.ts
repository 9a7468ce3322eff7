import {
  BOOK_EVENT_VERSION,
  type BookEvent,
  type BookEventType,
  type BookFacts,
  type PaymentTimeline,
  type SaleFacts,
  type TransactionFacts,
  type UnknownBookEvent,
} from './book-event.js';
import { address, count, decimal, hash32, list, object, oneOf, orNull, words, type Reader } from './readers.js';

type Fields<T> = { readonly [Name in keyof T]-?: Reader<T[Name]> };

const timeline = object<PaymentTimeline>({
  presentedAtMs: count,
  verifiedAtMs: orNull(count),
  claimedAtMs: orNull(count),
  fulfilledAtMs: orNull(count),
  settledAtMs: orNull(count),
});

const sale: Fields<SaleFacts> = {
  requestId: words,
  route: words,
  method: words,
  scheme: words,
  network: words,
  chainId: count,
  asset: address,
  payTo: address,
  payer: orNull(address),
  amount: orNull(decimal),
  price: decimal,
  transaction: orNull(hash32),
  logIndex: orNull(count),
};

const transaction: Fields<TransactionFacts> = {
  chainId: count,
  transaction: hash32,
  nonce: count,
  outcome: oneOf('success', 'reverted'),
  gasUsed: decimal,
  effectiveGasPrice: orNull(decimal),
  blockNumber: count,
  blockHash: hash32,
  jobId: words,
  operation: words,
};

const FACTS: { readonly [Type in BookEventType]: Reader<BookFacts[Type]> } = {
  answered: object({
    ...sale,
    requestHash: words,
    answerHash: orNull(words),
    status: count,
    bytes: orNull(count),
    upstreamMs: orNull(count),
    timeline,
  }),
  settled: object({
    ...transaction,
    relayer: address,
    payments: list(
      object({
        payment: words,
        asset: address,
        payTo: address,
        payer: address,
        amount: orNull(decimal),
        logIndex: orNull(count),
      }),
    ),
  }),
  released: object({ reason: words, sale: orNull(object(sale)), timeline: orNull(timeline) }),
  refused: object({
    failure: words,
    payer: orNull(address),
    amount: orNull(decimal),
    transaction: orNull(hash32),
    logIndex: orNull(count),
    minedAtMs: orNull(count),
    detail: orNull(words),
    count,
  }),
  refunding: object({
    from: oneOf('free', 'expired', 'released', 'answered'),
    refund: words,
    reason: orNull(words),
  }),
  refunded: object({ refund: words, transaction: hash32, amount: decimal, recipient: address }),
  job_transaction: object({
    ...transaction,
    wallet: address,
    step: count,
    kind: oneOf('first', 'replacement', 'cancel'),
    value: decimal,
  }),
};

/**
 * Parses the fields of a stream entry, given as Redis returns them: names and values in turn. Never throws: what it
 * cannot read is returned as `unknown`, for a later version to read.
 */
export function parseBookEvent(flat: readonly string[]): BookEvent | UnknownBookEvent {
  const fields: Record<string, string> = {};
  for (let index = 0; index + 1 < flat.length; index += 2) fields[flat[index] ?? ''] = flat[index + 1] ?? '';
  const { v, type, at, payment, facts } = fields;
  if (v !== String(BOOK_EVENT_VERSION)) return { type: 'unknown', why: 'version', fields };
  if (!isType(type)) return { type: 'unknown', why: 'type', fields };
  if (at === undefined || !/^\d{1,15}$/.test(at) || payment === undefined || facts === undefined)
    return { type: 'unknown', why: 'fields', fields };
  try {
    // The type and its facts belong together by the table above, which TypeScript does not follow.
    return { type, atMs: Number(at), payment, facts: FACTS[type](JSON.parse(facts)) } as BookEvent;
  } catch {
    return { type: 'unknown', why: 'fields', fields };
  }
}

function isType(type: string | undefined): type is BookEventType {
  return type !== undefined && Object.hasOwn(FACTS, type);
}
