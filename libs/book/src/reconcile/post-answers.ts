import { assetName } from '../bookings/accounts.js';
import type { NewBooking } from '../bookings/booking.js';
import type { BookSeller } from '../bookings/describe-payment.js';
import type { BookWriter } from '../posting/book-writer.js';
import { storeBookings } from '../posting/store-bookings.js';
import type { ChainScope } from './chain-scope.js';
import type { Difference } from './differences.js';
import type { MoneyQuestion } from './open-questions.js';
import { bookUnreported, reconcileGas, type OwnReceipt, type UnreportedTransaction } from './reconcile-gas.js';
import { reconcileMoney, type MoneyAnswer } from './reconcile-money.js';

/** What a chain says of the transactions that were asked about. */
export interface ChainAnswers {
  readonly money: readonly (MoneyQuestion & { readonly answer: MoneyAnswer })[];
  /** By hash. */
  readonly gas: ReadonlyMap<string, OwnReceipt | null>;
  readonly unreported: readonly UnreportedTransaction[];
}

/** What the answers made the book enter, by kind of booking, and what they leave open. */
export interface Answered {
  readonly bookings: readonly NewBooking[];
  readonly differences: readonly Difference[];
}

export interface AnswerTerms {
  readonly chainId: number;
  readonly seller: BookSeller;
  readonly completeFromMs: number;
  /** The least unclaimed transfer that is no dust, in base units. */
  readonly leastOf: (scope: ChainScope) => bigint;
}

/**
 * Books what the chain says otherwise than the book, in one transaction.
 * @throws DeposedError, BookUnavailableError; then nothing is written
 */
export function postAnswers(
  writer: BookWriter,
  { money, gas, unreported }: ChainAnswers,
  { chainId, leastOf, ...terms }: AnswerTerms,
): Promise<Answered> {
  return writer.write(async (within) => {
    const bookings: NewBooking[] = [];
    const differences: Difference[] = [];
    for (const { scope, transaction, answer } of money) {
      const own = { ...terms, scope, least: leastOf(scope) };
      const reconciled = await reconcileMoney(within, transaction, answer, own);
      bookings.push(...reconciled.bookings);
      differences.push(...reconciled.differences);
    }
    for (const [hash, receipt] of gas) bookings.push(...listed(await reconcileGas(within, { chainId, hash }, receipt)));
    for (const found of unreported) bookings.push(...listed(await bookUnreported(within, found)));
    await storeBookings(within, bookings, Date.now());
    return { bookings, differences };
  });
}

/** A transaction of ours that the book does not have and that cannot be found in the blocks. */
export function unknownTransaction(chainId: number, sender: string, nonce: number, atMs: number): Difference {
  return {
    list: 'chain_only',
    subject: `nonce ${nonce} of ${sender}`,
    transaction: null,
    amount: '0',
    atMs,
    asset: assetName(chainId, 'native'),
    reason: 'unknown_transaction',
  };
}

function listed(booking: NewBooking | null): NewBooking[] {
  return booking === null ? [] : [booking];
}
