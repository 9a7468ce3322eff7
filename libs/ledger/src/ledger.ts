import type { Cluster, Redis } from 'ioredis';
import type { Hex, PaymentId } from './payment-id.js';
import type { ClaimRequest, ClaimResult, FindRequest, FindResult, Lease, Refusal, StoredAnswer } from './types.js';

export interface LedgerOptions {
  redis: Redis | Cluster;
  answerStoreBytes?: number;
  retentionMs?: number;
  timeoutMs?: number;
}

export class Ledger {
  constructor(readonly options: LedgerOptions) {}
  open(_options: { headBlockNumber?: number } = {}): Promise<void> {
    return pending();
  }
  claim(_request: ClaimRequest): Promise<ClaimResult> {
    return pending();
  }
  find(_request: FindRequest): Promise<FindResult> {
    return pending();
  }
  renew(_lease: Lease, _leaseMs: number): Promise<boolean> {
    return pending();
  }
  commit(_lease: Lease, _answer: StoredAnswer | null): Promise<boolean> {
    return pending();
  }
  release(_lease: Lease, _options: { counted: boolean }): Promise<boolean> {
    return pending();
  }
  releaseOwner(_holder: { chainId: number; txHash: Hex; owner: string }): Promise<void> {
    return pending();
  }
  readAnswer(_id: PaymentId): Promise<StoredAnswer | null> {
    return pending();
  }
  countReproduction(_id: PaymentId, _max: number): Promise<boolean> {
    return pending();
  }
  recordRefusal(_refusal: Refusal): Promise<void> {
    return pending();
  }
  nowMs(): number {
    return Date.now();
  }
}

const pending = (): Promise<never> => Promise.reject(new Error('the ledger is not built yet'));
