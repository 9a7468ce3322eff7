import { chainMethods, type SentPayment } from '@tollgate/chain';
import { isFinal, type Journal } from '@tollgate/journal';
import { signedAmountOf, type SignedPayment } from '@tollgate/protocol';
import type { SignedPaymentTerms } from '@tollgate/transport';

import type { SettlementRecords } from './batch.js';
import { UNKNOWN_AFTER_MS } from './confirm.js';
import { nameSettlement } from './methods/registry.js';
import { minedSettlementOf } from './settlement-job.js';

export interface SettlementsUnderWayParts {
  journal: Pick<Journal, 'readJob'>;
  records: Pick<SettlementRecords, 'find'>;
}

const MAX_REMEMBERED = 1_000;

/** Tells which payments a relayer, in any process, may still move, and in which transactions. */
export class SettlementsUnderWay {
  readonly #unknownSinceMs = new Map<string, number>();

  constructor(private readonly parts: SettlementsUnderWayParts) {}

  /** @throws StoreUnavailableError, or what Redis throws */
  async include(terms: SignedPaymentTerms, payment: SignedPayment): Promise<boolean> {
    const jobId = await this.#findJob(terms, payment);
    if (jobId === null) return false;
    const job = await this.parts.journal.readJob(jobId);
    return job === null ? this.#mayBeSubmitted(jobId) : !isFinal(job.state);
  }

  /** The transactions that a relayer has signed with the payment in them. Throws as `include`. */
  async findTransactions(terms: SignedPaymentTerms, payment: SignedPayment): Promise<SentPayment> {
    const jobId = await this.#findJob(terms, payment);
    if (jobId === null) return { txHashes: [], job: 'over' };
    const job = await this.parts.journal.readJob(jobId);
    if (job === null) return { txHashes: [], job: 'forgotten' };
    // A payment may be left out of its batch when that is simulated again.
    const steps = job.steps.filter(({ data }) => chainMethods.of(payment).isIn(data, payment));
    const mined = steps.flatMap((step) => minedSettlementOf(step) ?? []);
    const signed = steps.flatMap(({ attempts }) => attempts.filter(({ kind }) => kind !== 'cancel'));
    const txHashes = mined.length > 0 ? mined : signed.map(({ hash }) => hash);
    return { txHashes, job: mined.length > 0 || !isFinal(job.state) ? 'open' : 'over' };
  }

  #findJob(terms: SignedPaymentTerms, payment: SignedPayment): Promise<string | null> {
    // The settlement of a metered payment has the same name whatever amount is moved.
    return this.parts.records.find(nameSettlement(terms, payment, signedAmountOf(payment)));
  }

  /** The process that named the job has as long to submit it as `JobWatch` waits. */
  #mayBeSubmitted(jobId: string): boolean {
    const nowMs = performance.now();
    const sinceMs = this.#unknownSinceMs.get(jobId);
    if (sinceMs !== undefined) return nowMs - sinceMs <= UNKNOWN_AFTER_MS;
    if (this.#unknownSinceMs.size >= MAX_REMEMBERED) this.#unknownSinceMs.clear();
    this.#unknownSinceMs.set(jobId, nowMs);
    return true;
  }
}
