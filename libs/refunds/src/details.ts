import type { SubmitRefusal } from '@tollgate/journal';

import type { Refund } from './refund.js';

// Why a refund fails, is refused or waits, as operators read it.

export const describeNoWallet = (name: string): string => `No agent worker has a wallet named ${name}.`;
export const CLOSED_ELSEWHERE =
  'The ledger is closed for this payment by a refund that the book does not know. Compare book and chain first.';
export const HELD = 'A request holds the payment just now. Ask again in a moment.';
export const SOLD = 'The payment has bought an answer meanwhile.';
export const WITHDRAWN =
  'The payment is withdrawn meanwhile: its money is booked as another payment, or is no longer on the chain.';
export const NO_PAYER = 'The chain does not show the payer of this payment now.';
export const OTHER_PAYER = 'The chain shows another payer than it did when the refund was asked for.';
export const MOVED =
  'The chain shows the money in another transaction than it did when the refund was asked for. Give it up, and ask for the next number.';
export const NOT_READ = 'The book has to read first what the outbox had when the payment was closed.';
export const OTHER_FORM =
  'The transaction was presented in another form: as a whole, or by one of its transfers. Refund the payment in that form.';
/** What to do about a refund whose job may have been sent. */
const LOOK =
  'It may have been paid: look at the chain for a transfer from the refunds wallet to the payer. If there is one, name it to this refund (tollgate refunds paid); if there is none, retry it or give it up.';
export const FORGOTTEN = `The journal no longer has the job of this refund. ${LOOK}`;
export const OTHER_JOB = `The journal has another job for this refund, with other terms: the book is older than the journal. ${LOOK}`;
export const OTHER_ACCOUNT = `The wallet of refunds is another account by now, and the journal has no job of this refund for the one before. ${LOOK}`;
export const ABANDONED = `An operator abandoned its job, which may have been sent before the journal lost data. ${LOOK}`;

/**
 * @param lost refunds of the payment that the ledger has as paid, and the book has not
 * @param known those that the book has: another one is asked for again before its transaction is named to it
 */
export function describeLost(id: string, lost: readonly string[], known: readonly string[]): string {
  const numberOf = (one: string): string => one.slice(one.lastIndexOf('-') + 1);
  const steps = lost.map((one) => {
    const again = known.includes(one) ? '' : `ask for refund ${numberOf(one)} again, which sends nothing, then `;
    return `${again}tollgate refunds paid ${one} <transaction>`;
  });
  const then = lost.includes(id)
    ? ''
    : ' Then retry this refund. Give it up first where it keeps what the other one has paid.';
  return `The ledger has the payment's refund ${lost.map(numberOf).join(', ')} as paid, and the book has lost it, so nothing is sent. Find its transfer on the chain and book it: ${steps.join('; ')}.${then}`;
}

/** @param inWork refunds that the ledger has as paid, and the book will have once they have ended */
export function describeAwaited(inWork: readonly Refund[]): string {
  const numbers = inWork.map(({ number }) => number).join(', ');
  return `It is sent once the payment's refund ${numbers}, which the ledger has as paid, is booked.`;
}

/** @param by the refund that has the transaction, or the payment of one that the book has lost */
export function describeTaken(transaction: string, by: string): string {
  return `Its job was sent as ${transaction}, which is booked for ${by}. Look at the chain: where another transfer paid that refund, name it to this one (tollgate refunds paid); if there is none, retry this one.`;
}

/** @param wallet its name */
export function describeWait(refusal: Exclude<SubmitRefusal, 'late'>, wallet: string): string {
  switch (refusal) {
    case 'lane_full':
      return `The wallet ${wallet} has reached its limit of open jobs.`;
    case 'outbox_full':
      return `The wallet ${wallet} has reached its limit of transactions that wait to be booked (BOOK_OUTBOX_LIMIT).`;
    case 'settings_differ':
      return `The agent worker of the wallet ${wallet} has BOOK=off. Set BOOK=on.`;
    case 'not_adopted':
      return `The wallet ${wallet} is not adopted: tollgate wallets adopt ${wallet}`;
  }
}
