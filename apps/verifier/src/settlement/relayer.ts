import type { PaymentFailure } from '@tollgate/protocol';
import { createJobId, type Journal, type LaneId } from '@tollgate/transactions';

import { hasSettlement } from '../authorizations/has-settlement.js';
import type { EndedJob, JobWatch } from './job-watch.js';
import type { SettlementEntry } from './settlement-entry.js';
import { encodeSettlementJob, SETTLE_OPERATION } from './settlement-job.js';
import type { SettlementRecord, SettlementRecords } from './settlement-records.js';

export interface PaymentToSettle {
  entry: SettlementEntry;
  record: SettlementRecord;
  /** The job that ended without settling it; null at the first try. */
  endedJobId: string | null;
  /** It has failed among others, and shall share its transaction with none. */
  isAlone: boolean;
}

/** What came of carrying a payment's settlement out. */
export type PaymentEnd =
  | { outcome: 'settled'; txHash: `0x${string}` }
  /** Another job settles it. */
  | { outcome: 'elsewhere'; jobId: string }
  /** The job is over, and its transaction did not settle the payment as far as it was seen. */
  | { outcome: 'ended'; jobId: string; news: EndedJob }
  /** Nothing was sent: it would fail. */
  | { outcome: 'refused'; failure: PaymentFailure }
  /** Nothing was sent. */
  | { outcome: 'unavailable'; reason: string };

export interface RelayerOptions {
  lane: LaneId;
  journal: Journal;
  records: SettlementRecords;
  jobs: JobWatch;
  /** Has the lane's runner look at the job at once. */
  wake: (jobId: string) => void;
  onTrouble: (error: unknown) => void;
}

/** Puts payments into the jobs of one relayer. */
export class Relayer {
  constructor(private readonly options: RelayerOptions) {}

  async carryOut(payment: PaymentToSettle, onJob: (jobId: string) => void): Promise<PaymentEnd> {
    const { lane, jobs, records } = this.options;
    const jobId = createJobId(lane);
    const holder = await this.#claim(payment, jobId);
    if (holder === null) return { outcome: 'unavailable', reason: 'redis_unavailable' };
    onJob(holder);
    if (holder !== jobId) return { outcome: 'elsewhere', jobId: holder };
    const mined = jobs.untilMined(jobId);
    const reason = await this.#submit(payment.entry, jobId);
    if (reason !== null) {
      await records.release(payment.record, jobId).catch(this.options.onTrouble);
      return { outcome: 'unavailable', reason };
    }
    const news = await mined;
    if (news.outcome !== 'mined') return { outcome: 'ended', jobId, news };
    const { entry } = payment;
    const promised = { asset: entry.asset, payTo: entry.payTo, authorization: entry.payment.authorization };
    if (hasSettlement(news.logs, promised)) return { outcome: 'settled', txHash: news.txHash };
    return { outcome: 'ended', jobId, news: await jobs.untilEnded(jobId) };
  }

  /** The job that settles the payment from now on; null: Redis does not answer. */
  async #claim({ record, endedJobId }: PaymentToSettle, jobId: string): Promise<string | null> {
    const { records, onTrouble } = this.options;
    try {
      if (endedJobId !== null && (await records.replace(record, endedJobId, jobId))) return jobId;
      const [holder] = await records.claim([record], jobId);
      return holder ?? null;
    } catch (error) {
      onTrouble(error);
      return null;
    }
  }

  /** Why the job was not accepted for certain; null: it was, or may have been. */
  async #submit(entry: SettlementEntry, jobId: string): Promise<string | null> {
    const { journal, lane, wake, onTrouble } = this.options;
    const input = encodeSettlementJob([entry]);
    try {
      const named = { lane, jobId, operation: SETTLE_OPERATION, input, wallet: 'relayer', keyId: 'verifier' };
      const submitted = await journal.submitNamed(named);
      if (submitted.outcome === 'refused') return `relayer_${submitted.reason}`;
      wake(jobId);
    } catch (error) {
      // Whether it was written is unknown: the journal tells in time.
      onTrouble(error);
    }
    return null;
  }
}
