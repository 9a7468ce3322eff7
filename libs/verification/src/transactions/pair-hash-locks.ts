import type { Hex, LockedTransfer } from '@tollgate/protocol';

import type { Payment } from './find-payments.js';

/** The lock of each locked payment: that at the same place among those of its recipient and amount. Null: unknown. */
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
