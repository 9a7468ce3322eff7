import { randomBytes } from 'node:crypto';

import { createFingerprint, createOwner, hashRetryKey, Ledger, type ClaimRequest } from '@tollgate/ledger';

import { timeEach } from '../load/time-each.js';
import type { Sample } from '../run-rounds.js';

const CHAIN_ID = 1328;
export const RETENTION_MS = 900_000;

const fingerprint = createFingerprint({ method: 'GET', path: '/api/weather', query: '' });

/** A ledger for such claims, which it keeps for RETENTION_MS. */
export async function openLedger(
  options: Omit<ConstructorParameters<typeof Ledger>[0], 'retentionMs'>,
): Promise<Ledger> {
  const ledger = new Ledger({ ...options, retentionMs: RETENTION_MS });
  await ledger.open({ headBlockNumber: 1 });
  return ledger;
}

/** Claims of payments that the ledger does not know. */
export function makeClaims(ledger: Ledger, count: number): ClaimRequest[] {
  const nowMs = ledger.nowMs();
  return Array.from({ length: count }, () => ({
    candidates: [
      {
        id: {
          kind: 'transfer',
          chainId: CHAIN_ID,
          txHash: `0x${randomBytes(32).toString('hex')}`,
          logIndex: 0,
        } as const,
        blockNumber: 2,
        minedAtMs: nowMs + 1000,
        windowMs: RETENTION_MS,
      },
    ],
    owner: createOwner(),
    fingerprint,
    retryKey: hashRetryKey(String(Math.random())),
    leaseMs: 30_000,
    deadlineMs: nowMs + 600_000,
    headBlockNumber: 1,
  }));
}

/** @throws when the payment is not claimed */
export async function claim(ledger: Ledger, request: ClaimRequest) {
  const result = await ledger.claim(request);
  if (result.outcome !== 'claimed') throw new Error(`a fresh payment was not claimed: ${JSON.stringify(result)}`);
  return result.lease;
}

/** Does the work with each item, so many at once. */
export function run<T>(items: T[], inFlight: number, work: (item: T) => Promise<unknown>): Promise<Sample> {
  let next = 0;
  return timeEach(inFlight, () => {
    const item = items[next++];
    return item === undefined ? undefined : work(item);
  });
}
