import type { ReleaseTerms, SettlementOutcome } from './purchase.js';

/** A claimed payment that was not spent. */
export type Unspent =
  | { readonly cause: 'not_charged' | 'unreached' | 'failed' }
  | { readonly cause: 'not_settled'; readonly result: SettlementOutcome; readonly afterWork: boolean };

/**
 * The rules of release.
 * @param mayBeSettled whether the payment was or may have been settled before this result
 */
export function releaseTermsFor(unspent: Unspent, mayBeSettled: boolean): ReleaseTerms {
  const { cause } = unspent;
  switch (cause) {
    case 'not_charged':
    case 'failed':
      return { cause, counted: true, forgetsAmount: false, mayBeSettled };
    case 'unreached':
      // No work was done, so the attempt does not count against the payer.
      return { cause, counted: false, forgetsAmount: false, mayBeSettled };
    case 'not_settled':
      return { cause, ...termsOfUnsettled(unspent.result, unspent.afterWork, mayBeSettled) };
  }
}

function termsOfUnsettled(
  result: SettlementOutcome,
  afterWork: boolean,
  mayBeSettled: boolean,
): Omit<ReleaseTerms, 'cause'> {
  switch (result.outcome) {
    case 'failed':
      // Counts failures that cost work or gas: otherwise a payer that empties its account in the meantime could cause
      // them without limit.
      return { counted: afterWork || result.txHash !== null, forgetsAmount: true, mayBeSettled: false };
    case 'unavailable':
      return { counted: false, forgetsAmount: true, mayBeSettled };
    case 'settled':
    case 'pending':
      return { counted: false, forgetsAmount: false, mayBeSettled: true };
  }
}
