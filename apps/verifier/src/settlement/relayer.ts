import { AuthorizedTransfers, ChainUnavailableError } from '@tollgate/chain';
import { crashPoint, createJobId, type LaneId, type PlannedJob, type SubmitResult } from '@tollgate/journal';

import type { BurningPayers } from './burning-payers.js';
import type { ContractWallets } from './contract-wallets.js';
import type { GasMemory } from './gas-memory.js';
import { GatheringLine } from './gathering-line.js';
import { SUBMITTED_WITHIN_MS, type EndedJob, type JobWatch, type MinedJob } from './job-watch.js';
import type { PayersMeans } from './payers-means.js';
import type { PaymentEnd, PaymentToSettle } from './payment-to-settle.js';
import { promiseOf, isShareable, payerOf, type SettlementEntry } from './settlement-entry.js';
import { encodeSettlementJob, SETTLE_OPERATION } from './settlement-job.js';
import { stepFor, type SettlementPlanner } from './settlement-planner.js';
import type { SettlementRecords } from './settlement-records.js';
import type { Trials, TriedSettlement } from './trials.js';

export interface RelayerOptions {
  lane: LaneId;
  records: SettlementRecords;
  jobs: JobWatch;
  trials: Trials;
  planner: SettlementPlanner;
  gas: GasMemory;
  means: PayersMeans;
  burning: Pick<BurningPayers, 'findBarred'>;
  wallets: Pick<ContractWallets, 'admit' | 'release'>;
  batchSize: number;
  batchWaitMs: number;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
  /** Submits a job and makes the lane's runner continue it at once. */
  launch: (job: PlannedJob) => Promise<SubmitResult>;
  onTrouble: (error: unknown) => void;
}

const BARRED: PaymentEnd = { outcome: 'refused', failure: 'settlement_failed' };
const UNWANTED: PaymentEnd = { outcome: 'unavailable', reason: 'nobody_waits' };
const TURNED_AWAY: PaymentEnd = { outcome: 'unavailable', reason: 'payer_busy' };
const TOO_LATE: PaymentEnd = { outcome: 'refused', failure: 'authorization_expired' };

interface Waiting extends PaymentToSettle {
  /** The simulation that came with the request is still valid. */
  isTried: boolean;
  /** Called as soon as the payment's job is known. */
  onJob: (jobId: string) => void;
  end: (end: PaymentEnd) => void;
}

/** Puts payments into the jobs of one relayer; payments that can share a transaction do. */
export class Relayer {
  readonly #line: GatheringLine<Waiting>;
  #underWay = 0;

  constructor(private readonly options: RelayerOptions) {
    const { batchSize, batchWaitMs } = options;
    this.#line = new GatheringLine({
      size: batchSize,
      waitMs: batchWaitMs,
      isBusy: () => this.#underWay > 1,
      carry: (payments) => this.#carryShared(payments),
    });
  }

  /** Never rejects. */
  async carryOut(payment: PaymentToSettle, onJob: (jobId: string) => void): Promise<PaymentEnd> {
    const { asset, amountBaseUnits } = payment.entry;
    const { trial } = payment;
    const claimed = { asset, payer: payerOf(payment.entry), amountBaseUnits: BigInt(amountBaseUnits), trial };
    const end = await this.options.means.spend(claimed, (isTried) =>
      payment.isWanted() ? this.#begin({ ...payment, isTried }, onJob) : Promise.resolve(UNWANTED),
    );
    return end ?? TURNED_AWAY;
  }

  #begin(payment: PaymentToSettle & { isTried: boolean }, onJob: (jobId: string) => void): Promise<PaymentEnd> {
    this.#underWay++;
    return new Promise<PaymentEnd>((end) => {
      const waiting = { ...payment, onJob, end };
      if (payment.isAlone || this.options.batchSize === 1 || !isShareable(payment.entry))
        void this.#carryAlone(waiting);
      else this.#line.add(waiting);
    }).finally(() => this.#underWay--);
  }

  async #carryAlone(payment: Waiting): Promise<void> {
    const { trials, lane } = this.options;
    await this.#carry([payment], async () => {
      const settlement = await trials.tryAlone(payment.entry, lane.address);
      return { settlement, refuse: () => ({ outcome: 'refused', failure: 'simulation_failed' }) };
    });
  }

  async #carryShared(payments: readonly Waiting[]): Promise<void> {
    const { trials, lane } = this.options;
    const entries = payments.map(({ entry }) => entry);
    if (payments.length > 1 && !(await trials.canShare().catch(() => false))) {
      for (const payment of payments) void this.#carryAlone(payment);
      return;
    }
    await this.#carry(payments, async () => {
      const assumed = payments.every(({ isTried }) => isTried) ? trials.assumeShared(entries) : null;
      const { settlement, excluded } = assumed ?? (await trials.tryShared(entries, lane.address));
      return { settlement, refuse: (entry) => ({ outcome: 'excluded', why: excluded.get(entry) ?? 'fails' }) };
    });
  }

  /** Resolves once the job is submitted. */
  async #carry(
    payments: readonly Waiting[],
    attempt: () => Promise<{ settlement: TriedSettlement | null; refuse: (entry: SettlementEntry) => PaymentEnd }>,
  ): Promise<void> {
    const jobId = createJobId(this.options.lane);
    const latestMs = this.options.nowMs() + SUBMITTED_WITHIN_MS;
    const { burning } = this.options;
    const barring = burning.findBarred(payments.map(({ entry }) => payerOf(entry)));
    const [claimed, tried, barred] = await Promise.allSettled([this.#claim(payments, jobId), attempt(), barring]);
    if (claimed.status === 'rejected') return this.#giveUp(payments, jobId, claimed.reason);
    const own = claimed.value;
    if (tried.status === 'rejected') return this.#giveUp(own, jobId, tried.reason);
    if (barred.status === 'rejected') return this.#giveUp(own, jobId, barred.reason);

    const { settlement, refuse } = tried.value;
    const ready: Waiting[] = [];
    const nowMs = this.options.nowMs();
    for (const payment of own) {
      if (barred.value.has(payerOf(payment.entry))) void this.#refuse(payment, jobId, BARRED);
      else if (payment.sendBeforeMs <= nowMs) void this.#refuse(payment, jobId, TOO_LATE);
      else if (!settlement?.entries.includes(payment.entry)) void this.#refuse(payment, jobId, refuse(payment.entry));
      else ready.push(payment);
    }
    if (!settlement || ready.length === 0) return;
    const refusal = await this.#admit(jobId, settlement);
    if (refusal) for (const payment of ready) void this.#refuse(payment, jobId, refusal);
    else await this.#submit(ready, { jobId, latestMs }, settlement);
  }

  /** The reason why the job must not be sent; null when it may be. */
  async #admit(jobId: string, { walletCode, gas }: TriedSettlement): Promise<PaymentEnd | null> {
    if (walletCode === null) return null;
    try {
      const refusal = await this.options.wallets.admit(jobId, { code: walletCode, gas });
      if (refusal === 'contract_wallets_busy') return { outcome: 'unavailable', reason: refusal };
      return refusal && { outcome: 'refused', failure: refusal };
    } catch (error) {
      this.options.onTrouble(error);
      return { outcome: 'unavailable', reason: 'redis_unavailable' };
    }
  }

  /**
   * Returns the payments that this job settles from now on; the others end with the job that settles them, or with
   * their earlier answer.
   */
  async #claim(payments: readonly Waiting[], jobId: string): Promise<Waiting[]> {
    const { records } = this.options;
    const [first] = payments;
    // Only a payment that has failed before names its former job, and then it goes alone.
    const isTakenOver =
      first !== undefined &&
      first.endedJobId !== null &&
      (await records.replace(first.record, first.endedJobId, jobId));
    const asked = payments.map(({ record }) => record);
    const holdings = isTakenOver ? [{ jobId }] : await records.claim(asked, jobId);
    return payments.filter(({ onJob, end }, index) => {
      const holding = holdings[index] ?? { jobId };
      if ('answer' in holding) {
        end({ outcome: 'answered', ...holding });
        return false;
      }
      onJob(holding.jobId);
      if (holding.jobId !== jobId) end({ outcome: 'elsewhere', ...holding });
      return holding.jobId === jobId;
    });
  }

  async #submit(
    payments: readonly Waiting[],
    { jobId, latestMs }: { jobId: string; latestMs: number },
    tried: TriedSettlement,
  ): Promise<void> {
    const { lane, jobs, trials, planner, launch, onTrouble } = this.options;
    const entries = payments.map(({ entry }) => entry);
    const settlement = entries.length === tried.entries.length ? tried : trials.narrow(tried, entries);
    planner.remember(jobId, settlement);
    const mined = jobs.untilMined(jobId);
    const input = encodeSettlementJob(entries);
    const named = { lane, jobId, latestMs, operation: SETTLE_OPERATION, input, wallet: 'relayer', keyId: 'verifier' };
    const step = stepFor({ ...settlement, count: entries.length });
    crashPoint('S1');
    try {
      const submitted = await launch({ ...named, step });
      if (submitted.outcome === 'refused') {
        if (settlement.walletCode !== null) await this.options.wallets.release(jobId).catch(onTrouble);
        return await this.#giveUp(payments, jobId, `relayer_${submitted.reason}`);
      }
      crashPoint('S2');
    } catch (error) {
      // Unknown whether it was written; the journal will show it.
      onTrouble(error);
    }
    void mined.then((news) => this.#conclude(payments, jobId, news));
  }

  async #conclude(payments: readonly Waiting[], jobId: string, news: MinedJob | EndedJob): Promise<void> {
    const isShared = payments.length > 1;
    if (news.outcome !== 'mined') {
      for (const { end } of payments) end({ outcome: 'ended', jobId, isShared, news });
      return;
    }
    const { jobs, gas } = this.options;
    crashPoint('S3');
    const { txHash, gasUsed } = news;
    const transfers = new AuthorizedTransfers(news.logs);
    const left = payments.filter(({ entry, end }) => {
      const isSettled = transfers.include(promiseOf(entry));
      if (isSettled) end({ outcome: 'settled', txHash });
      return !isSettled;
    });
    if (left.length === 0) {
      const [asset, ...others] = new Set(payments.map(({ entry }) => entry.asset));
      if (asset && others.length === 0) gas.learn(asset, gasUsed, payments.length);
      return;
    }
    // A failure is final only when no transaction of the job can be mined any more, in another block or as another
    // attempt.
    const ended = await jobs.untilEnded(jobId);
    for (const { end } of left) end({ outcome: 'ended', jobId, isShared, news: ended });
  }

  /** Call when nothing was sent and nothing of this job will be. */
  async #giveUp(payments: readonly Waiting[], jobId: string, why: unknown): Promise<void> {
    if (typeof why !== 'string') this.options.onTrouble(why);
    await this.#release(payments, jobId);
    for (const { end } of payments) end({ outcome: 'unavailable', reason: reasonOf(why) });
  }

  async #refuse(payment: Waiting, jobId: string, end: PaymentEnd): Promise<void> {
    await this.#release([payment], jobId);
    payment.end(end);
  }

  async #release(payments: readonly Waiting[], jobId: string): Promise<void> {
    const { records, onTrouble } = this.options;
    await Promise.all(payments.map(({ record }) => records.release(record, jobId))).catch(onTrouble);
  }
}

function reasonOf(why: unknown): string {
  if (typeof why === 'string') return why;
  return why instanceof ChainUnavailableError ? why.reason : 'redis_unavailable';
}
