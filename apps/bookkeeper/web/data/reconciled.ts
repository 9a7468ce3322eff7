import type { Reconciliation } from '../../../../libs/book/src/reconcile/read-reconciliation.js';
import { showMoney, type SellerFacts } from './format.js';
import { useLive, type Live } from './live.js';

/** The last comparison of book and chain, as `GET /operator/reconcile` shows it. */
export interface Reconciled extends Reconciliation {
  readonly comparedAt: string | null;
  readonly trouble: string | null;
}

const EVERY_MS = 10_000;

export function useReconciled(): Live<Reconciled> {
  return useLive<Reconciled>('/reconcile', EVERY_MS);
}

/** Whether the bookkeeper compares at all: without an RPC server it does not. */
export function isOff({ problem }: Live<Reconciled>): boolean {
  return problem?.code === 'reconcile_off';
}

export function showUnreconciled({ unreconciled }: Reconciled, seller: SellerFacts): string {
  const left = unreconciled.filter(({ amount }) => amount !== '0');
  return left.map(({ asset, amount }) => showMoney(amount, asset, seller)).join(', ') || '0';
}
