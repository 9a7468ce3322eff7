import type { PaymentFailure } from '@tollgate/protocol';

/** The failures that are in the book: those of payments whose money arrived. */
const REFUSED: Partial<Record<PaymentFailure, string>> = {
  amount_too_low: 'below the price',
  payment_late: 'paid too long after its challenge',
  payment_too_old: 'presented after the redemption window',
  older_than_ledger: 'paid before the moment from which the ledger knows what was spent',
  payment_used: 'sent by another than the relayer, so what it bought is not known',
  released_too_often: 'released too often',
};

/** A map: a code is a service's text, and may be the name of a property that every object has. */
const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...REFUSED,
    not_charged: 'the resource asked for no charge',
    unreached: 'the resource could not be reached',
    failed: 'the resource failed',
    not_settled: 'its settlement failed',
    request_ended: 'the request ended before it was served',
    identifier_reused: 'its payment identifier had bought something else',
    removed_from_chain: 'the chain no longer has its transaction',
  }),
);

/** What a code of the book says, in words; the code itself where it has none. */
export function explainReason(code: string): string {
  return WORDS.get(code) ?? code;
}
