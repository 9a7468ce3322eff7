export {
  BOOK_EVENT_VERSION,
  type AnsweredFacts,
  type BookEvent,
  type BookEventOf,
  type BookFacts,
  type JobTransactionFacts,
  type PaymentTimeline,
  type RefundedFacts,
  type RefundingFacts,
  type RefusedFacts,
  type ReleasedFacts,
  type SaleFacts,
  type SettledFacts,
  type SettledPayment,
  type TransactionFacts,
  type UnknownBookEvent,
} from './book-event.js';
export { BOOK_GROUP, bucketEventsKey, laneBookKey, REFUSED_EVENTS } from './keys.js';
export { parseBookEvent } from './parse-book-event.js';
