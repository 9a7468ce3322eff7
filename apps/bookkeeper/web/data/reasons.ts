import type { PaymentFailure } from '@tollgate/protocol';

/** The failures that are in the book: those of payments whose money arrived. */
const REFUSED: Partial<Record<PaymentFailure, string>> = {
  amount_too_low: 'below the price',
  payment_late: 'paid too long after its challenge',
  payment_too_old: 'presented after the redemption window',
  older_than_ledger: 'paid before the moment from which the ledger knows what was spent',
  payment_used: 'sent by another than the relayer, so what it bought is not known',
  released_too_often: 'your API failed five times, or was busy fifty times',
};

/** A map: a code is a service's text, and may be the name of a property that every object has. */
const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...REFUSED,
    unreached: 'your API could not be reached',
    failed: 'your API broke off, or did not answer in time',
    not_settled: 'its settlement failed',
    request_ended: 'the request ended before it was served',
    identifier_reused: 'its payment identifier had bought something else',
    removed_from_chain: 'the chain no longer has its transaction',
  }),
);

/** What a code of the book says, in words; the code itself where it has none. */
export function explainReason(code: string): string {
  const [, status] = /^answered_(\d{3})$/.exec(code) ?? [];
  return status === undefined ? (WORDS.get(code) ?? code) : `your API answered ${status}`;
}
