import { findCauses, type Receipt } from '@tollgate/chain';
import type { PaymentId } from '@tollgate/ledger';
import { listTransfers, type Hex, type LockedTransfer } from '@tollgate/protocol';

import { PaymentRefused } from '../refusals.js';

/** One transfer of the asset to the recipient. */
export interface Payment {
  id: PaymentId;
  from: Hex;
  to: Hex;
  amountBaseUnits: bigint;
}

export interface TransferTerms {
  chainId: number;
  asset: Hex;
  payTo: Hex;
  /** The lowest price that may apply to the request. */
  leastBaseUnits: bigint;
}

export interface FoundPayments {
  /** Every transfer of the asset to the recipient, in log order. */
  received: Payment[];
  /** The received payments that may suffice; none when all are too small. */
  enough: Payment[];
}

/**
 * The payments in the receipt, each under the name that its logs give it. Refuses `transfer_missing` if there are none,
 * and `belongs_to_permit` when permits made all of them: the logs do not name a permit, so it is redeemed by its signed
 * payload, not by its transaction.
 */
export function findPayments({ logs, txHash }: Receipt, terms: TransferTerms): FoundPayments {
  const { chainId, payTo, leastBaseUnits } = terms;
  const causes = findCauses(logs, terms);
  let isOfPermit = false;
  const received = listTransfers(logs, terms.asset).flatMap(({ position, ...transfer }): Payment[] => {
    if (transfer.to !== payTo) return [];
    const [cause, ...others] = causes.get(position) ?? [];
    // Of a transfer with two causes, the payer could present both.
    if (cause?.id === null || others.length > 0) {
      isOfPermit = true;
      return [];
    }
    // The index counts from the transaction's first log, not from the block's: a transaction that moves to another block
    // keeps it, and so cannot be spent twice under two ids.
    return [{ ...transfer, id: cause?.id ?? { kind: 'transfer', chainId, txHash, logIndex: position } }];
  });
  if (received.length === 0) throw new PaymentRefused(isOfPermit ? 'belongs_to_permit' : 'transfer_missing');
  return { received, enough: received.filter(({ amountBaseUnits }) => amountBaseUnits >= leastBaseUnits) };
}

/**
 * The lock of each locked payment: that at the same place among those of its recipient and amount. Null: unknown.
 * @param payments of one token: two of them are worth the same, so that a lock that a third party adds may exchange them at
 * no one's cost. Of two tokens one may be worth nothing.
 */
export function pairHashLocks(
  payments: readonly Payment[],
  locks: readonly LockedTransfer[],
): Map<Payment, Hex | null> {
  const lockOf = new Map<Payment, Hex | null>();
  const paymentGroups = groupBy(payments, keyOf);
  for (const [key, group] of groupBy(locks, keyOf)) {
    const logs = paymentGroups.get(key) ?? [];
    // Calldata shared by many payments (a bundle) may contain a third party's lock without a transfer. With more locks
    // than transfers they cannot be matched, unless all locks are equal.
    const isAmbiguous = group.length > logs.length && group.some(({ lock }) => lock !== group[0]?.lock);
    for (const [index, payment] of logs.entries()) {
      const lock = group[index]?.lock;
      if (lock !== undefined) lockOf.set(payment, isAmbiguous ? null : lock);
    }
  }
  return lockOf;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

const keyOf = ({ to, amountBaseUnits }: { to: Hex; amountBaseUnits: bigint }): string => `${to}:${amountBaseUnits}`;
