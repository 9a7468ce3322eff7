import { randomBytes } from 'node:crypto';

import type { AnsweredFacts, ReleasedFacts } from '@tollgate/book-events';
import type { Hex } from '@tollgate/protocol';

import { createFingerprint, createOwner } from '../src/create-keys.js';
import type { Ledger } from '../src/ledger.js';
import type { ClaimRequest, ClaimResult, Lease, PaymentCandidate } from '../src/types.js';

export const CHAIN_ID = 1328;
/** The head block at the ledger's birth, up to which payments are refused; samples are mined after it. */
export const HEAD_AT_BIRTH = 1000;

export const sampleHash = (): Hex => `0x${randomBytes(32).toString('hex')}`;

/** Test data: a transfer mined just now, in a block after the ledger's birth. */
export function sampleTransfer(ledger: Ledger, overrides: Partial<PaymentCandidate> = {}): PaymentCandidate {
  return {
    id: { kind: 'transfer', chainId: CHAIN_ID, txHash: sampleHash(), logIndex: 0 },
    blockNumber: HEAD_AT_BIRTH + 1,
    // Block times are whole seconds: rounded up, so that the sample is not older than a ledger born in this second.
    minedAtMs: Math.ceil(ledger.nowMs() / 1000) * 1000,
    windowMs: 900_000,
    ...overrides,
  };
}

/** Test data: a request for one fresh payment by a new owner, without a retry key. */
export function sampleClaim(ledger: Ledger, overrides: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    candidates: [sampleTransfer(ledger)],
    owner: createOwner(),
    fingerprint: createFingerprint({ method: 'GET', path: '/api/weather', query: '' }),
    retryKey: null,
    leaseMs: 30_000,
    deadlineMs: ledger.nowMs() + 10_000,
    headBlockNumber: HEAD_AT_BIRTH,
    ...overrides,
  };
}

/** The lease of a claim that must have succeeded. */
export function leaseOf(result: ClaimResult): Lease {
  if (result.outcome !== 'claimed') throw new Error(`expected a lease, got ${JSON.stringify(result)}`);
  return result.lease;
}

const SAMPLE_ADDRESS: Hex = `0x${'ab'.repeat(20)}`;

/** Test data: what a gateway reports of a sold answer. */
export const SAMPLE_ANSWERED: AnsweredFacts = {
  requestId: 'request-1',
  route: '/api/weather',
  method: 'GET',
  scheme: 'tx-hash',
  network: `eip155:${CHAIN_ID}`,
  chainId: CHAIN_ID,
  asset: SAMPLE_ADDRESS,
  payTo: SAMPLE_ADDRESS,
  payer: SAMPLE_ADDRESS,
  amount: '10000',
  price: '10000',
  transaction: sampleHash(),
  logIndex: 0,
  requestHash: 'x'.repeat(22),
  answerHash: 'a'.repeat(64),
  status: 200,
  bytes: 92,
  upstreamMs: 3,
  timeline: { presentedAtMs: 1, verifiedAtMs: 2, claimedAtMs: 3, fulfilledAtMs: 4, settledAtMs: null },
};

/** Test data: what a gateway reports of a payment that it gives back. */
export const SAMPLE_RELEASED: ReleasedFacts = { reason: 'failed', sale: null, timeline: null };
