import type { BookEvent, UnknownBookEvent } from '@tollgate/book-events';

/** An entry of an outbox stream. */
export interface DeliveredEvent {
  readonly stream: string;
  /** The entry's id in Redis: milliseconds and a counter. */
  readonly id: string;
  /** Names and values in turn, as they were stored. */
  readonly fields: readonly string[];
  readonly event: BookEvent | UnknownBookEvent;
}

/** The payments that an event reports about. */
export function paymentsOf(event: BookEvent): readonly string[] {
  switch (event.type) {
    case 'settled':
      return event.facts.payments.filter(({ amount }) => amount !== null).map(({ payment }) => payment);
    case 'job_transaction':
      return [];
    default:
      return [event.payment];
  }
}
