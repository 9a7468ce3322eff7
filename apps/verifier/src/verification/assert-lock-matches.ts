import { findHashLocks, matchesHashLock, type Hex, type LockedTransfer } from '@tollgate/protocol';

import type { FoundPayments, Payment } from './find-payments.js';
import { PaymentRefused } from './payment-refused.js';

export interface OpenedPayments {
  payments: Payment[];
  /** They are locked to the reference; otherwise they carry no lock at all. */
  isLocked: boolean;
}

/**
 * Keeps the payments that the request may spend: those locked to its reference, otherwise those without a lock. A lock
 * belongs to the log at the same place among those of its recipient and amount.
 *
 * Refuses `lock_mismatch` when all are locked to something else.
 */
export function assertLockMatches(found: FoundPayments, input: Hex, reference: string | undefined): OpenedPayments {
  const locks = findHashLocks(input);
  if (locks.length === 0) return { payments: found.enough, isLocked: false };

  const lockOf = pairLocks(found.received, locks);
  const matching = found.enough.filter((payment) => {
    const lock = lockOf.get(payment);
    return typeof lock === 'string' && reference !== undefined && matchesHashLock(lock, reference);
  });
  if (matching.length > 0) return { payments: matching, isLocked: true };
  const unlocked = found.enough.filter((payment) => !lockOf.has(payment));
  if (unlocked.length === 0) throw new PaymentRefused('lock_mismatch');
  return { payments: unlocked, isLocked: false };
}

/** Null: locked, but it is unknown to what. */
function pairLocks(payments: readonly Payment[], locks: readonly LockedTransfer[]): Map<Payment, Hex | null> {
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
