import { randomBytes } from 'node:crypto';

import type { AnsweredFacts } from '@tollgate/book-events';
import {
  createFingerprint,
  createOwner,
  hashRetryKey,
  Ledger,
  type ClaimRequest,
  type StoredAnswer,
} from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { timeEach } from './load.js';
import type { Sample } from './run-rounds.js';
import type { KeepUntilEnd } from './with-cleanup.js';

const CHAIN_ID = 1328;
export const RETENTION_MS = 900_000;
const ADDRESS = `0x${'ab'.repeat(20)}` as const;
const NO_LIMIT = { outboxLimit: 10_000_000 };

const fingerprint = createFingerprint({ method: 'GET', path: '/api/weather', query: '' });

/** A ledger on this Redis, which it reports to the book without limit, or not at all. */
export async function openLedger(redisUrl: string, isBooked: boolean, keep: KeepUntilEnd) {
  const redis = new Redis(redisUrl);
  keep({ stop: async () => redis.disconnect() });
  const ledger = new Ledger({
    redis,
    chainIds: [1328],
    retentionMs: RETENTION_MS,
    ...(isBooked && { book: NO_LIMIT }),
  });
  await ledger.open({ chainId: 1328, blockNumber: 1 });
  return { redis, ledger };
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

/** Claims and commits. */
export async function sell(ledger: Ledger, request: ClaimRequest, answer: StoredAnswer | null = null): Promise<void> {
  const lease = await claim(ledger, request);
  await ledger.commit(lease, answer, { facts: ledger.isBooked ? factsOf(request) : null });
}

/** Sells so many answers, each for a payment of its own. */
export function sellMany(ledger: Ledger, count: number, inFlight: number): Promise<Sample> {
  return timeEach(inFlight, makeClaims(ledger, count), (request) => sell(ledger, request));
}

export function hashOf({ candidates: [candidate] }: ClaimRequest): Hex | null {
  return candidate?.id.kind === 'transfer' ? candidate.id.txHash : null;
}

/** What a gateway reports of a sold answer. */
function factsOf(request: ClaimRequest): AnsweredFacts {
  const nowMs = Date.now();
  return {
    requestId: crypto.randomUUID(),
    route: '/api/weather',
    method: 'GET',
    scheme: 'tx-hash',
    network: `eip155:${CHAIN_ID}`,
    chainId: CHAIN_ID,
    asset: ADDRESS,
    payTo: ADDRESS,
    payer: ADDRESS,
    amount: '1000',
    price: '1000',
    transaction: hashOf(request),
    logIndex: 0,
    requestHash: 'x'.repeat(22),
    answerHash: 'a'.repeat(64),
    status: 200,
    bytes: 300,
    upstreamMs: 3,
    timeline: {
      presentedAtMs: nowMs,
      verifiedAtMs: nowMs,
      claimedAtMs: nowMs,
      fulfilledAtMs: nowMs,
      settledAtMs: null,
    },
  };
}
