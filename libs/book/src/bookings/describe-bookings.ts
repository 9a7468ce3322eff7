import type { BookEventOf, TransactionFacts } from '@tollgate/book-events';

import { assetName, chainAccount, difference, gasAccount, jobsAccount } from './accounts.js';
import type { EntryLine, JsonTree, NewBooking } from './booking.js';
import { assetOf, describePayment, positionOf, type BookSeller } from './describe-payment.js';
import { requestDigest } from './digests.js';
import type { BookedPayment } from './payment-record.js';

/** What changed for a payment, as a booking; null when no money has moved between accounts. */
export function bookPayment(before: BookedPayment, after: BookedPayment, seller: BookSeller): NewBooking | null {
  const [old, current] = [describePayment(before, seller), describePayment(after, seller)];
  const [from, to] = [positionOf(before, old), positionOf(after, current)];
  const [oldAsset, asset] = [assetOf(old), assetOf(current)];
  const isBooked = from.size > 0;
  const isElsewhere = old.transaction !== current.transaction || oldAsset !== asset;
  // What was booked for another transaction or in another asset is taken back whole.
  const lines =
    isBooked && to.size > 0 && isElsewhere
      ? [...toLines(difference(from, new Map()), oldAsset), ...toLines(to, asset)]
      : toLines(difference(from, to), isBooked ? oldAsset : asset);
  if (lines.length === 0) return null;
  const isGone = current.state === 'withdrawn';
  const isCorrected = isBooked && (isElsewhere || isGone || old.amount !== current.amount);
  return {
    kind: isCorrected ? 'correction' : 'payment',
    payment: after.id,
    atMs: current.atMs,
    facts: describeFacts(after, current),
    lines,
  };
}

/** The gas of a transaction as an expense of its sender, and the coins that a job sent along. */
export function bookTransaction({ type, atMs, facts }: BookEventOf<'settled' | 'job_transaction'>): NewBooking | null {
  const sender = 'relayer' in facts ? facts.relayer : facts.wallet;
  const cost = gasCost(facts) ?? 0n;
  const value = 'value' in facts && facts.outcome === 'success' ? BigInt(facts.value) : 0n;
  const { transaction, nonce, outcome, blockNumber, jobId, operation } = facts;
  const lines = spend(facts.chainId, sender, { gas: cost, value });
  if (lines.length === 0) return null;
  return {
    kind: type === 'settled' ? 'settlement' : 'job',
    payment: null,
    atMs,
    facts: { transaction, nonce, outcome, blockNumber, jobId, operation },
    lines,
  };
}

/** What an account of ours spent on a transaction: wei. */
export function spend(chainId: number, sender: string, { gas, value }: { gas: bigint; value: bigint }): EntryLine[] {
  const moved = new Map([
    [gasAccount(sender), gas],
    [jobsAccount(sender), value],
    [chainAccount(chainId, sender), -gas - value],
  ]);
  return toLines(moved, assetName(chainId, 'native'));
}

/** In wei; null where the RPC server did not return the price. */
export function gasCost({ gasUsed, effectiveGasPrice }: TransactionFacts): bigint | null {
  return effectiveGasPrice === null ? null : BigInt(gasUsed) * BigInt(effectiveGasPrice);
}

function describeFacts(
  { reports, requestSalt }: BookedPayment,
  { state, amount, transaction, route, reason, refunded }: ReturnType<typeof describePayment>,
): NewBooking['facts'] {
  const { answered } = reports;
  const answer: JsonTree = answered
    ? {
        request: answered.requestHash === undefined ? null : requestDigest(requestSalt, answered.requestHash),
        answer: answered.answerHash,
        status: answered.status,
        price: answered.price,
      }
    : null;
  return { state, amount, transaction, route, reason, refunded, answer };
}

/** In the order of the accounts, so that equal changes are booked alike. */
function toLines(moved: ReadonlyMap<string, bigint>, asset: string): EntryLine[] {
  return [...moved]
    .filter(([, amount]) => amount !== 0n)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([account, amount]) => ({ account, asset, amount: String(amount) }));
}
